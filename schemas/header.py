"""The header every message carries, readable whatever the body, and the ids derived from it."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal
from uuid import UUID, uuid5

from pydantic import Field

from schemas.base import SCHEMA_VERSION, Model
from schemas.space import Space

_NAMESPACE = UUID("5a3c1a52-7f0e-5b1d-9c55-0a6a1c0e9a11")
"""Root of all record ids of this project; never change it, or a replay makes other ids."""


class RecordRole(StrEnum):
    """What a record is to the event that wrote it: a part of its id, so never change a value."""

    TURN = "turn"
    WINDOW = "window"
    ITEM = "item"
    TOPIC = "topic"
    VIEW = "view"
    STRUCTURED = "structured"
    CONSOLIDATED = "consolidated"


class EventKind(StrEnum):
    """What an event of the log is."""

    TURN = "turn"
    CONTROL = "control"


class Header(Model):
    """Where an event stands: its space, its position there, and where it came from.

    ``offset`` is the event's offset in ``turns``; ``attempt`` rises with each redrive. The engine writes headers;
    stages only read them.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    space: Space
    position: int = Field(ge=0)
    kind: EventKind
    event_id: str
    offset: int = Field(ge=0)
    attempt: int = Field(default=1, ge=1)


class Skipped(Model):
    """Stands in for an event that became a letter, so that positions stay without a hole."""

    schema_version: Literal[1] = SCHEMA_VERSION
    header: Header
    stage: str
    reason: str


def record_id(space: Space, position: int, role: str, ordinal: int = 0) -> str:
    """Return the UUIDv5 of (space, position, role, ordinal): the same event always makes the same ids.

    ``role`` is a ``RecordRole``; ``ordinal`` tells several records of one role apart (pieces, items, windows).
    """
    return str(uuid5(_NAMESPACE, f"{space}\n{position}\n{role}\n{ordinal}"))
