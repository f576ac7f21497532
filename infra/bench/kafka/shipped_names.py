"""What the stages that run on Faust as shipped are called on the cluster, and how each says that it is ready."""

from __future__ import annotations

from pathlib import Path
from typing import Final

STAGES: Final = 5
"""As many as the flow has."""


def group_of(stage: int) -> str:
    """Return the consumer group of a stage (1 to ``STAGES``), which is the name of its Faust app."""
    return f"shipped-{stage}"


def topic_of(stage: int) -> str:
    """Return the topic that a stage writes; stage 0 is the publisher."""
    return f"shipped.t{stage}"


def changelog_of(stage: int) -> str:
    """Return the topic of a stage's table, as Faust names it."""
    return f"{group_of(stage)}-counts-changelog"


def ready_of(folder: Path, stage: int) -> Path:
    """Return the file that a stage makes when it has its partitions and its table."""
    return folder / f"{group_of(stage)}.ready"
