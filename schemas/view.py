"""Views: the questions under which every chunk is read (AutoViewMem)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from schemas.base import SCHEMA_VERSION, Model


class ItemKind(StrEnum):
    """The three kinds of evidence, each with a router of its own (AdaMem 3.2)."""

    EVENT = "event"
    FACT = "fact"
    ATTRIBUTE = "attribute"


class View(Model):
    """One way to look at a turn: what to take out and what kind of item it makes.

    ``template`` describes in a sentence what the view looks for; its embedding stands for the view.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    id: str
    name: str
    kind: ItemKind
    slots: tuple[str, ...]
    template: str


class ViewSet(Model):
    """The views active from position ``since`` on."""

    schema_version: Literal[1] = SCHEMA_VERSION
    version: int
    since: int
    views: Annotated[tuple[View, ...], Field(min_length=1)]


class ViewDetail(Model):
    """What only the record of a view holds: the view, and why it is there.

    Without a ``version`` it is a candidate that a discovery proposed. With one it is in the set of that version, which
    holds for events from position ``holds_from`` on: ``seed`` is the id of the candidate that was chosen,
    ``neighbours`` are the ids of those with which it was rewritten into one, nearest first; none where it stands as it
    was.
    """

    view: View
    version: int | None = None
    holds_from: int | None = None
    seed: str | None = None
    neighbours: tuple[str, ...] = ()


class FoundView(Model):
    """A view that an event brought, to become a record. ``provenance`` are the turns it was found in."""

    detail: ViewDetail
    text: str
    provenance: Annotated[tuple[str, ...], Field(min_length=1)]
    degraded: bool = False
    vector: bytes
