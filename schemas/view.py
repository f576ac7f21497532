"""Views: the questions under which every turn is read (AutoViewMem)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from schemas.base import SCHEMA_VERSION, Model
from schemas.extracted import ItemKind


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
