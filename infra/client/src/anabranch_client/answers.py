"""What a gateway answers. Members that a newer gateway adds are passed over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from anabranch_client.errors import About, Unexpected

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Accepted:
    """The log has these turns. ``after`` is the token that makes a recall wait until they are in memory."""

    turn_ids: tuple[str, ...]
    after: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A record found. ``turn_ids`` are the evidence, ``why`` is what each retriever gave it."""

    record_id: str
    kind: str
    turn_ids: tuple[str, ...]
    speaker: str | None
    at: datetime
    text: str
    score: float
    why: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Recalled:
    """The hits, best first. ``stale``: ``behind`` events, or what ``after`` names, were not in memory yet."""

    hits: tuple[Hit, ...]
    stale: bool
    behind: int
    took_ms: float


@dataclass(frozen=True, slots=True)
class RunnerUp:
    """A turn that might have been the parent, and its score in thousandths of a logit."""

    turn_id: str
    score: int


@dataclass(frozen=True, slots=True)
class Placement:
    """Which turn a turn continues (none: it opens a branch), and what chose it."""

    parent_turn_id: str | None
    other_parents: tuple[str, ...]
    rule: str
    score: int | None
    runners_up: tuple[RunnerUp, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a bundle. ``part`` is local, turn, fact or structured."""

    part: str
    turn_ids: tuple[str, ...]
    at: datetime
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Bundle:
    """What an agent should have before it when it answers, most useful first, within the budget of tokens."""

    placement: Placement
    lines: tuple[Line, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class TurnState:
    """Where a turn is: ``state`` is pending, committed, lettered (with the reason) or forgotten."""

    turn_id: str
    position: int | None
    state: str
    reason: str | None


Body = Mapping[str, Any]


def read(about: About, body: object, reader: Callable[[Body], T]) -> T:
    """Return what a body says.

    Raises:
        Unexpected: if it is not what a gateway answers.
    """
    try:
        if not isinstance(body, Mapping):
            msg = f"a JSON object, not {type(body).__name__}"
            raise TypeError(msg)  # noqa: TRY301 - one place says what was wrong
        return reader(body)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Unexpected(about, f"the answer is not of the form expected ({error!r})") from error


def accepted(body: Body) -> Accepted:
    """Read the answer to published turns."""
    return Accepted(tuple(body["turn_ids"]), str(body["after"]))


def recalled(body: Body) -> Recalled:
    """Read the answer to a question."""
    hits = tuple(_hit(one) for one in body["hits"])
    return Recalled(hits, bool(body["stale"]), int(body["behind"]), float(body["took_ms"]))


def bundle(body: Body) -> Bundle:
    """Read a bundle."""
    lines = tuple(_line(one) for one in body["lines"])
    return Bundle(_placement(body["placement"]), lines, int(body["tokens"]))


def turn_state(body: Body) -> TurnState:
    """Read where a turn is."""
    return TurnState(str(body["turn_id"]), body.get("position"), str(body["state"]), body.get("reason"))


def _hit(one: Body) -> Hit:
    return Hit(
        record_id=str(one["record_id"]),
        kind=str(one["kind"]),
        turn_ids=tuple(one["turn_ids"]),
        speaker=one.get("speaker"),
        at=datetime.fromisoformat(one["at"]),
        text=str(one["text"]),
        score=float(one["score"]),
        why={str(name): float(value) for name, value in one["why"].items()},
    )


def _line(one: Body) -> Line:
    at = datetime.fromisoformat(one["at"])
    return Line(str(one["part"]), tuple(one["turn_ids"]), at, str(one["text"]), int(one["tokens"]))


def _placement(one: Body) -> Placement:
    others = tuple(RunnerUp(str(other["turn_id"]), int(other["score"])) for other in one.get("runners_up", ()))
    parents = tuple(one.get("other_parents", ()))
    return Placement(one.get("parent_turn_id"), parents, str(one["rule"]), one.get("score"), others)
