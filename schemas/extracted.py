"""Edge ``turns.extracted``: what a turn tells, taken out under every active view (AutoViewMem)."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from schemas.base import SCHEMA_VERSION, Model, absent
from schemas.header import Header
from schemas.interval import Interval
from schemas.localized import Localized
from schemas.moment import Moment
from schemas.normalized import Attitude
from schemas.span import Span
from schemas.structured import Structured
from schemas.turn import Speaker
from schemas.view import FoundView, ItemKind

__all__ = [
    "OBJECT_SLOT",
    "PREFERENCE_PREFIX",
    "VALUE_SLOT",
    "Extracted",
    "Item",
    "ItemKind",
    "Key",
    "Quoted",
    "Slot",
]


VALUE_SLOT = "value"
"""The slot of an attribute that has one value at a time ("lives in"): another value later is a change."""

OBJECT_SLOT = "object"
"""The slot of an attribute that is said of many things, each on its own: what it is said of."""

PREFERENCE_PREFIX = "preference:"
"""What the attribute of a key begins with where it says how someone feels about something."""


class Key(Model):
    """What an item is about. ``subject`` is a named entity or the root of the branch; persona attributes have none."""

    owner: str
    subject: str | None
    attribute: str


class Slot(Model):
    """A named value of an item."""

    name: str
    value: str


class Quoted(Model):
    """The earlier turn that an item quotes, where that is not the turn it came with: it closed a chunk (AutoViewMem).

    ``position`` is the turn's own; who said it, when, and in which branch and session.
    """

    position: int
    speaker: Speaker
    at: Moment
    session: str | None = None
    branch: int


class Item(Model):
    """One statement that stands alone (names, absolute dates), with the source span that it rests on.

    ``corrects`` marks a statement that says an earlier one was wrong ("no, I said Tuesday"), ``changes`` one that
    says that something is no longer so ("we moved to Berlin").

    The turn that it quotes is the first of ``provenance``; ``quoted`` tells of it where it is an earlier one, and
    ``span`` counts in that one's cleaned text. An item with ``rests_on`` is *tentative*: history suggests it and the
    turn does not say it; it rests on these words of the turn and was suggested by these records.
    """

    kind: ItemKind
    text: str
    span: Span
    owner: str
    key: Key
    views: Annotated[tuple[str, ...], Field(min_length=1)]
    slots: tuple[Slot, ...] = ()
    attitude: Attitude = Attitude.NONE
    negated: bool = False
    interval: Interval | None = None
    corrects: bool = False
    changes: bool = False
    suspect: bool = False
    provenance: Annotated[tuple[str, ...], Field(min_length=1)]
    vector: bytes
    quoted: Annotated[Quoted | None, Field(exclude_if=absent)] = None
    rests_on: Annotated[str | None, Field(exclude_if=absent)] = None
    suggested_by: Annotated[tuple[str, ...], Field(exclude_if=absent)] = ()
    view_set: Annotated[int, Field(exclude_if=absent)] = 0
    degraded: Annotated[bool, Field(exclude_if=absent)] = False

    @property
    def tentative(self) -> bool:
        """Whether history suggests it and its turn does not say it."""
        return self.rests_on is not None


class Extracted(Model):
    """A localized turn with its items: its own and, where it closed a chunk, those of the chunk's earlier turn.

    ``structured`` are the lists, tables and the like in it; ``more_structured`` counts those beyond the bound, which
    only the turn's own record shows. ``views`` are those that were found with it. ``view_set`` is the version of the
    set under which it was read. ``refused`` counts what a model said that is not so: quotes that no turn holds, views
    and records that were not shown; and items that the event had no room for. ``degraded`` says that an answer was of
    no use, so that rules made what they could.

    Raises:
        ValueError: if an item or a structured record stands where its turn has no text.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    header: Header
    localized: Localized
    items: tuple[Item, ...] = ()
    view_set: int = 1
    degraded: bool = False
    views: Annotated[tuple[FoundView, ...], Field(exclude_if=absent)] = ()
    refused: Annotated[int, Field(exclude_if=absent)] = 0
    structured: tuple[Structured, ...] = ()
    more_structured: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _quoted(self) -> Self:
        length = len(self.localized.normalized.text)
        for item in (one for one in self.items if one.quoted is None):
            if item.span.end > length:
                msg = f"the item {item.text[:80]!r} quotes {item.span}, but its turn has {length} characters"
                raise ValueError(msg)
        for one in self.structured:
            if one.span is not None and one.span.end > length:
                msg = f"the {one.form} {one.heading[:80]!r} stands at {one.span}, but its turn has {length} characters"
                raise ValueError(msg)
        return self
