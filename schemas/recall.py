"""What the read side takes and gives."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, StringConstraints

from schemas.base import SCHEMA_VERSION, Model, absent
from schemas.localized import Placement
from schemas.memory import RecordKind
from schemas.moment import Moment
from schemas.turn import Identifier


class Question(Model):
    """A question to memory.

    ``asker`` is who asks ("my sister" is theirs), ``asked_at`` when ("last month" is before it), ``for_turn`` the turn
    that asks, which is left out of its own evidence. ``as_of`` is a position: what was known when it was the last.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    id: str | None = None
    question: Annotated[str, StringConstraints(pattern=r"\S")]
    asker: Identifier | None = None
    asked_at: Moment | None = None
    for_turn: str | None = None
    as_of: int | None = None
    k: Annotated[int, Field(ge=1, le=1000)] = 10


class Hit(Model):
    """A record found, best first. ``why`` says what each retriever gave it.

    ``suspect``: its text reads as instructions to a model. Where it does not, that is not printed.
    """

    record_id: str
    kind: RecordKind
    turn_ids: tuple[str, ...]
    speaker: str | None
    at: AwareDatetime
    text: str
    score: float
    why: dict[str, float]
    suspect: Annotated[bool, Field(exclude_if=absent)] = False


class Recalled(Model):
    """The hits for a question. ``behind`` counts events of the space that were not yet in memory.

    ``degraded`` names what is configured but did not answer, so that the hits are ranked without it (``reranker``).
    Where it names nothing it is not printed.
    """

    id: str | None
    hits: tuple[Hit, ...]
    stale: bool
    behind: int
    took_ms: float
    degraded: Annotated[tuple[str, ...], Field(exclude_if=lambda names: not names)] = ()


class Part(StrEnum):
    """Parts of the bundle E_t (ArborMem)."""

    LOCAL = "local"
    TURN = "turn"
    FACT = "fact"
    STRUCTURED = "structured"


class ContextInput(Model):
    """A turn not yet published for which a bundle is asked."""

    schema_version: Literal[1] = SCHEMA_VERSION
    id: str | None = None
    text: Annotated[str, StringConstraints(pattern=r"\S")]
    speaker: Identifier | None = None
    at: Moment | None = None


class Line(Model):
    """A line of the bundle with its turn ids and absolute time."""

    part: Part
    turn_ids: tuple[str, ...]
    at: AwareDatetime
    text: str
    tokens: int


class Bundle(Model):
    """E_t: what an agent should have before it when it answers, most useful first, within the budget."""

    id: str | None
    placement: Placement
    lines: tuple[Line, ...]
    tokens: int
