"""Structured records: lists, tables, steps, code and key-value blocks that an agent wrote (ArborMem, section 3)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import Model
from schemas.span import Span


class Form(StrEnum):
    """What a structured record looks like in its turn."""

    LIST = "list"
    TABLE = "table"
    STEPS = "steps"
    CODE = "code"
    PAIRS = "pairs"


Members = Annotated[tuple[str, ...], Field(min_length=1)]


class Structured(Model):
    """One structured record: its members in order, which a question may ask for by their number.

    ``text`` is heading and members as they are searched, ``numbers`` are those that the turn writes before the members
    where they are not 1, 2, 3 …; ``more`` counts members beyond the bound, which only the turn's own record shows.
    ``revises`` is the id of the record that this one takes the place of, ``revision`` rises where its members differ
    from it. ``span`` is where it stands in the turn; an edit ("drop the last one") stands nowhere. ``provenance`` names
    its own turn first, then those whose words it has too.
    """

    form: Form
    heading: str
    members: Members
    text: str
    owner: str
    numbers: tuple[int, ...] = ()
    more: Annotated[int, Field(ge=0)] = 0
    revision: Annotated[int, Field(ge=0)] = 0
    revises: str | None = None
    span: Span | None = None
    suspect: bool = False
    provenance: Annotated[tuple[str, ...], Field(min_length=1)]
    vector: bytes
