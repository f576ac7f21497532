"""What the topics are called."""

from __future__ import annotations

from typing import Final

FIRST_GENERATION: Final = 1

LETTERS: Final = "letters"
RESULTS: Final = "model.results"


def topic_name(name: str, generation: int = FIRST_GENERATION) -> str:
    """Return what a topic of a generation is called: the first one's names are plain."""
    return name if generation == FIRST_GENERATION else f"{name}.g{generation}"


def group_of(stage: str, generation: int = FIRST_GENERATION) -> str:
    """Return the consumer group of a stage."""
    return topic_name(f"anabranch.{stage}", generation)


def state_topic(stage: str, generation: int = FIRST_GENERATION) -> str:
    """Return what the topic of a stage's states is called."""
    return topic_name(f"state.{stage}", generation)
