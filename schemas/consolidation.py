"""What nightly consolidation decided, as a control event of the log (mechanics, consolidate; architecture, section 5).

A replay of ``turns`` repeats a night by these, without deciding again. Each decision names the records it rests on;
where one of them is missing, closed or of another text when its turn comes, route refuses that decision and counts it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from schemas.base import Model, absent
from schemas.memory import RecordContent

MAX_DECISIONS: Final = 16
"""Decisions of one control event: what route has to remember of it for W events stays small (invariant 7)."""

MAX_SOURCES: Final = 64
"""Records that one decision rests on: a topic of more is cut by its maker."""


class Act(StrEnum):
    """What a decision is for."""

    DUPLICATE = "duplicate"
    MERGE = "merge"
    TOPIC = "topic"
    PERSONA = "persona"
    UNDO = "undo"


_FEWER: Final = frozenset({Act.DUPLICATE, Act.MERGE})
"""Acts that put fewer records in the place of those they retire: live source records never grow."""


class Named(Model):
    """A record as the decision saw it. ``text_hash`` is ``stages.stored.text_hash`` of its text."""

    id: str
    text_hash: str
    retired: Annotated[bool, Field(exclude_if=absent)] = False


class Decision(Model):
    """One decision: the records it rests on, those of them that it retires, and what comes in their place.

    All of it is done, or nothing. ``reason`` is for people.

    Raises:
        ValueError: if a source comes twice, or a duplicate or merge leaves no record, or as many as it retires. Topics
            and personas are derived, so they may go without a successor when what they rested on is gone.
    """

    act: Act
    sources: Annotated[tuple[Named, ...], Field(min_length=1, max_length=MAX_SOURCES)]
    records: tuple[RecordContent, ...] = ()
    reason: str

    @property
    def retired(self) -> tuple[Named, ...]:
        """Return the sources that leave the default search."""
        return tuple(one for one in self.sources if one.retired)

    @model_validator(mode="after")
    def _sound(self) -> Self:
        ids = [one.id for one in self.sources]
        if len(set(ids)) != len(ids):
            msg = f"a decision ({self.act}) names a record twice: {ids}"
            raise ValueError(msg)
        if self.act in _FEWER and not 0 < len(self.records) < len(self.retired):
            msg = f"a {self.act} of {len(self.retired)} records makes {len(self.records)}: it must make fewer, and one"
            raise ValueError(msg)
        return self


class Consolidation(Model):
    """A part of a run: ``run`` names the run, ``part`` counts from 0 within the run and the space.

    ``undoes`` names the run that this one takes back.
    """

    action: Literal["consolidate"] = "consolidate"
    run: str
    part: Annotated[int, Field(ge=0)]
    decisions: Annotated[tuple[Decision, ...], Field(min_length=1, max_length=MAX_DECISIONS)]
    undoes: Annotated[str | None, Field(exclude_if=absent)] = None

    @property
    def records(self) -> tuple[RecordContent, ...]:
        """Return the records of all decisions in their order, which numbers them: each bears its run."""
        made = (content for decision in self.decisions for content in decision.records)
        return tuple(one if one.run else one.model_copy(update={"run": self.run}) for one in made)
