"""Dead letters: what could not be processed, with the reason and the original bytes."""

from __future__ import annotations

from typing import Literal

from schemas.base import SCHEMA_VERSION, Model


class Letter(Model):
    """An event that was refused. ``space`` is the log key; ``offset`` counts in ``topic``.

    ``input_fault`` says that the input was at fault (and not a stage), which the limit on letters does not count.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    letter_id: str
    space: str
    turn_id: str | None
    position: int | None
    stage: str
    reason: str
    attempt: int = 1
    topic: str
    partition: int = 0
    offset: int
    input_fault: bool = True
    original: bytes
