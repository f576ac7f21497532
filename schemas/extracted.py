"""Edge ``turns.extracted``: what a turn tells, taken out under every active view (AutoViewMem)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from schemas.base import SCHEMA_VERSION, Model
from schemas.header import Header
from schemas.interval import Interval
from schemas.localized import Localized
from schemas.normalized import Attitude
from schemas.span import Span
from schemas.structured import Structured

VALUE_SLOT = "value"
"""The slot of an attribute that has one value at a time ("lives in"): another value later is a change."""

OBJECT_SLOT = "object"
"""The slot of an attribute that is said of many things, each on its own: what it is said of."""

PREFERENCE_PREFIX = "preference:"
"""What the attribute of a key begins with where it says how someone feels about something."""


class ItemKind(StrEnum):
    """The three kinds of evidence, each with a router of its own (AdaMem 3.2)."""

    EVENT = "event"
    FACT = "fact"
    ATTRIBUTE = "attribute"


class Key(Model):
    """What an item is about. ``subject`` is a named entity or the root of the branch; persona attributes have none."""

    owner: str
    subject: str | None
    attribute: str


class Slot(Model):
    """A named value of an item."""

    name: str
    value: str


class Item(Model):
    """One statement that stands alone (names, absolute dates), with the source span that it rests on.

    ``corrects`` marks a statement that says an earlier one was wrong ("no, I said Tuesday"), ``changes`` one that
    says that something is no longer so ("we moved to Berlin").
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


class Extracted(Model):
    """A localized turn with its items, and the lists, tables and the like in it.

    ``more_structured`` counts those beyond the bound, which only the turn's own record shows.

    Raises:
        ValueError: if an item or a structured record stands where its turn has no text.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    header: Header
    localized: Localized
    items: tuple[Item, ...] = ()
    view_set: int = 1
    degraded: bool = False
    structured: tuple[Structured, ...] = ()
    more_structured: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _quoted(self) -> Self:
        length = len(self.localized.normalized.text)
        for item in self.items:
            if item.span.end > length:
                msg = f"the item {item.text[:80]!r} quotes {item.span}, but its turn has {length} characters"
                raise ValueError(msg)
        for one in self.structured:
            if one.span is not None and one.span.end > length:
                msg = f"the {one.form} {one.heading[:80]!r} stands at {one.span}, but its turn has {length} characters"
                raise ValueError(msg)
        return self
