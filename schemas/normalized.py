"""Edge ``turns.normalized``: a turn and what it says, z_t (AdaMem 3.2)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from schemas.base import SCHEMA_VERSION, Model
from schemas.header import Header
from schemas.interval import TimeMention
from schemas.span import Span
from schemas.turn import Turn


class Attitude(StrEnum):
    """How the speaker feels about what they say."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    MIXED = "mixed"
    NONE = "none"


class Snippet(Model):
    """A stretch of the turn that states something, and where it stands in the turn's text."""

    text: str
    span: Span


class Mention(Model):
    """A deictic phrase ("that book") bound to the titled or named entity that it stands for."""

    mention: str
    span: Span
    refers_to: str
    source_turn_id: str
    confidence: Annotated[float, Field(ge=0, le=1)]


class Understanding(Model):
    """z_t: the canonical parse of a turn that every later stage reads (AdaMem 3.2, E.1).

    ``summary`` stands alone (it names its speaker); ``entities`` are named things in order of appearance,
    ``keywords`` content words (stems), most telling first.
    """

    summary: str
    topic: str
    attitude: Attitude
    reason: Snippet | None = None
    facts: tuple[Snippet, ...] = ()
    attributes: tuple[Snippet, ...] = ()
    entities: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()


class Piece(Model):
    """A stable piece of the turn's text that fits the encoder.

    ``vector`` is the int8 vector (one byte a dimension) of the piece as it is searched: with its speaker's name.
    """

    span: Span
    text: str
    vector: bytes


class Normalized(Model):
    """A cleaned turn with its understanding.

    ``text`` is the cleaned text with the captions of attachments behind it; spans count in it. ``pieces`` cover
    it (one, unless it is over-long). ``revises`` is the position of the revision that this one replaces.
    ``suspect`` marks text shaped as instructions to the system: content, never obeyed. ``degraded`` says that a
    model's answer was no use, so that z_t is by rules; ``unquoted`` counts the quotations of an answer that the turn
    does not have, which were dropped.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    header: Header
    turn: Turn
    text: str
    pieces: Annotated[tuple[Piece, ...], Field(min_length=1)]
    z: Understanding
    times: tuple[TimeMention, ...] = ()
    mentions: tuple[Mention, ...] = ()
    revises: int | None = None
    suspect: bool = False
    degraded: bool = False
    unquoted: Annotated[int, Field(ge=0)] = 0
