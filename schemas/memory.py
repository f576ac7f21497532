"""Rows of ``memory``: insert-only, equal bytes per key, so that order and compaction do not matter."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from schemas.base import SCHEMA_VERSION, Model, absent
from schemas.extracted import Key, Slot
from schemas.interval import Interval, TimeMention
from schemas.localized import Placement
from schemas.normalized import Attitude, Mention, Understanding
from schemas.space import Space
from schemas.span import Span
from schemas.structured import Form
from schemas.turn import Speaker
from schemas.view import ViewDetail

OPEN = 2**53 - 1
"""The ``until`` of a record that is not closed: the greatest integer every JSON reader keeps."""


class RecordKind(StrEnum):
    """What a record is: graph nodes are turns, topics, items (event, fact, attribute) and personas."""

    TURN = "turn"
    WINDOW = "window"
    EVENT = "event"
    FACT = "fact"
    ATTRIBUTE = "attribute"
    STRUCTURED = "structured"
    TOPIC = "topic"
    PERSONA = "persona"
    VIEW = "view"


ITEM_KINDS = (RecordKind.EVENT, RecordKind.FACT, RecordKind.ATTRIBUTE)


class EdgeType(StrEnum):
    """Edges of the typed graph (AdaMem, appendix C; ``continues`` and ``supersedes`` are ours)."""

    MENTIONS = "mentions"
    SUPPORTS = "supports"
    SPEAKER_NEXT = "speaker_next"
    SPEAKER_PREVIOUS = "speaker_previous"
    NEXT = "next"
    PREVIOUS = "previous"
    SPEAKER_RELATED = "speaker_related"
    SAME_TOPIC = "same_topic"
    CONTINUES = "continues"
    CONTINUED_BY = "continued_by"
    SUPERSEDES = "supersedes"


class CloseCause(StrEnum):
    """Why a record was closed."""

    CORRECTION = "correction"
    REVISION = "revision"
    MERGE = "merge"
    UNDO = "undo"
    FORGET = "forget"


class OutcomeState(StrEnum):
    """How an event ended."""

    COMMITTED = "committed"
    LETTERED = "lettered"
    FORGOTTEN = "forgotten"


def _none(value: object) -> bool:
    """Position 0 is one."""
    return value is None


class TurnDetail(Model):
    """What only a turn's own record holds: z_t, times, mentions and placement."""

    turn_id: str
    revision: int
    reply_to: str | None
    z: Understanding
    times: tuple[TimeMention, ...]
    mentions: tuple[Mention, ...]
    placement: Placement


def _once(times: object) -> bool:
    """Nearly every record stands for one occurrence."""
    return times == 1


class RecordContent(Model):
    """What a piece of memory says: all of its record but where it stands. ``provenance`` names the turns it rests on.

    ``anchor`` is the turn id whose text a turn or window record shows first; ``at`` is that turn's time. An
    over-long turn has several records of kind turn, told apart by ``piece``; ``turn`` is on piece 0 only. ``span`` is
    what an item quotes: characters of the cleaned text of its turn, captions behind it.

    An item of a chunk that a later turn closed has that turn's ``since``, and the position of its own in ``said_at``.
    One with ``rests_on`` (words of its turn) and ``suggested_by`` (record ids) is tentative. ``view_set`` is the
    version of the views under which a model took it out; 0: rules did. ``view`` is what a record of kind view holds.
    ``form`` and what follows are those of a structured record (``schemas.structured``).

    What consolidation makes has its ``run``, the ids of the records it ``stands_for``, and in ``said_at`` the position
    of the first turn that it rests on; ``occurrences`` counts how often it was said. Records that have none of these
    are written without them.
    """

    kind: RecordKind
    text: str
    owner: str | None
    speaker: Speaker | None
    at: AwareDatetime
    session: str | None = None
    key: Key | None = None
    views: tuple[str, ...] = ()
    slots: tuple[Slot, ...] = ()
    attitude: Attitude = Attitude.NONE
    negated: bool = False
    interval: Interval | None = None
    provenance: Annotated[tuple[str, ...], Field(min_length=1)]
    span: Span | None = None
    branch: int | None = None
    piece: int = 0
    suspect: bool = False
    degraded: bool = False
    turn: TurnDetail | None = None
    said_at: Annotated[int | None, Field(exclude_if=_none)] = None
    rests_on: Annotated[str | None, Field(exclude_if=absent)] = None
    suggested_by: Annotated[tuple[str, ...], Field(exclude_if=absent)] = ()
    view_set: Annotated[int, Field(exclude_if=absent)] = 0
    view: Annotated[ViewDetail | None, Field(exclude_if=absent)] = None
    form: Form | None = Field(default=None, exclude_if=absent)
    heading: str = Field(default="", exclude_if=absent)
    members: tuple[str, ...] = Field(default=(), exclude_if=absent)
    numbers: tuple[int, ...] = Field(default=(), exclude_if=absent)
    more: int = Field(default=0, exclude_if=absent)
    revision: int = Field(default=0, exclude_if=absent)
    run: Annotated[str | None, Field(exclude_if=absent)] = None
    stands_for: Annotated[tuple[str, ...], Field(exclude_if=absent)] = ()
    occurrences: Annotated[int, Field(ge=1, exclude_if=_once)] = 1


class RecordRow(RecordContent):
    """A piece of memory: its content, its id, and ``since``, the position it came with."""

    row: Literal["record"] = "record"
    schema_version: Literal[1] = SCHEMA_VERSION
    space: Space
    id: str
    since: int


class EdgeRow(Model):
    """A directed edge between two records; ``strength`` in hundredths (write strength of AdaMem, appendix C)."""

    row: Literal["edge"] = "edge"
    schema_version: Literal[1] = SCHEMA_VERSION
    space: Space
    source: str
    target: str
    type: EdgeType
    strength: Annotated[int, Field(ge=0, le=100)]
    since: int


class ClosedRow(Model):
    """A record leaves the default search at position ``until``."""

    row: Literal["closed"] = "closed"
    schema_version: Literal[1] = SCHEMA_VERSION
    space: Space
    id: str
    until: int
    cause: CloseCause
    successor: str | None = None
    reason: str = ""


class LeftRow(Model):
    """An item left working memory at ``position``."""

    row: Literal["left"] = "left"
    schema_version: Literal[1] = SCHEMA_VERSION
    space: Space
    id: str
    position: int


class ChangedRow(Model):
    """A record was superseded by a change at ``position``: it stays, ranked under its successor."""

    row: Literal["changed"] = "changed"
    schema_version: Literal[1] = SCHEMA_VERSION
    space: Space
    id: str
    position: int
    successor: str
    reason: str = ""


class OutcomeRow(Model):
    """How the event at ``position`` ended. ``stage`` and ``reason`` of a lettered one."""

    row: Literal["outcome"] = "outcome"
    schema_version: Literal[1] = SCHEMA_VERSION
    space: Space
    position: int
    event_id: str
    state: OutcomeState
    stage: str | None = None
    reason: str | None = None


Row = Annotated[RecordRow | EdgeRow | ClosedRow | LeftRow | ChangedRow | OutcomeRow, Field(discriminator="row")]


def row_key(row: RecordRow | EdgeRow | ClosedRow | LeftRow | ChangedRow | OutcomeRow) -> str:
    """Return the key of a row inside its space: the row kind, then what identifies it."""
    match row:
        case EdgeRow():
            return f"edge {row.source} {row.target} {row.type}"
        case OutcomeRow():
            return f"outcome {row.position:012d}"
        case _:
            return f"{row.row} {row.id}"
