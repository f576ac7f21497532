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
    """A record found. ``turn_ids`` are the evidence, ``why`` is what each retriever gave it.

    ``suspect``: its text reads as instructions to a model; show it to none.
    """

    record_id: str
    kind: str
    turn_ids: tuple[str, ...]
    speaker: str | None
    at: datetime
    text: str
    score: float
    why: Mapping[str, float]
    suspect: bool = False


@dataclass(frozen=True, slots=True)
class Recalled:
    """The hits, best first. ``stale``: ``behind`` events, or what ``after`` names, were not in memory yet."""

    hits: tuple[Hit, ...]
    stale: bool
    behind: int
    took_ms: float


@dataclass(frozen=True, slots=True)
class Citation:
    """What an answer rests on: a record, with the turns that it is evidence of."""

    turn_ids: tuple[str, ...]
    record_id: str
    kind: str
    speaker: str | None
    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """A step to an answer: plan, search, integrate or answer, and what came of it."""

    step: str
    outcome: str
    prompt: str | None
    queries: tuple[str, ...]
    turn_ids: tuple[str, ...]
    summary: str


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer and what it rests on, or, where ``answer`` is ``None``, the ``reason`` and the ``evidence``.

    ``reason`` is not_in_memory, no_model, model_unavailable, model_unusable, out_of_budget, out_of_requests,
    out_of_time or suspect.
    ``confidence`` is high, medium or low; ``inferred``: the evidence suggests the answer rather than says it. ``used``
    counts searches, requests and tokens, ``trace`` has the steps if they were asked for.
    """

    answer: str | None
    reason: str | None
    confidence: str | None
    inferred: bool
    citations: tuple[Citation, ...]
    evidence: tuple[Hit, ...]
    research: str
    stale: bool
    behind: int
    took_ms: float
    used: Mapping[str, int]
    trace: tuple[Step, ...]


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


def answered(body: Body) -> Answer:
    """Read the answer to a question that wanted one."""
    return Answer(
        answer=body["answer"],
        reason=body["reason"],
        confidence=body["confidence"],
        inferred=bool(body["inferred"]),
        citations=tuple(_citation(one) for one in body["citations"]),
        evidence=tuple(_hit(one) for one in body["evidence"]),
        research=str(body["research"]),
        stale=bool(body["stale"]),
        behind=int(body["behind"]),
        took_ms=float(body["took_ms"]),
        used={str(name): int(count) for name, count in body["used"].items()},
        trace=tuple(_step(one) for one in body.get("trace", ())),
    )


def _citation(one: Body) -> Citation:
    at, text = datetime.fromisoformat(one["at"]), str(one["text"])
    return Citation(tuple(one["turn_ids"]), str(one["record_id"]), str(one["kind"]), one.get("speaker"), at, text)


def _step(one: Body) -> Step:
    queries, turn_ids = tuple(one.get("queries", ())), tuple(one.get("turn_ids", ()))
    return Step(
        str(one["step"]), str(one["outcome"]), one.get("prompt"), queries, turn_ids, str(one.get("summary", ""))
    )


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
        suspect=bool(one.get("suspect", False)),
    )


def _line(one: Body) -> Line:
    at = datetime.fromisoformat(one["at"])
    return Line(str(one["part"]), tuple(one["turn_ids"]), at, str(one["text"]), int(one["tokens"]))


def _placement(one: Body) -> Placement:
    others = tuple(RunnerUp(str(other["turn_id"]), int(other["score"])) for other in one.get("runners_up", ()))
    parents = tuple(one.get("other_parents", ()))
    return Placement(one.get("parent_turn_id"), parents, str(one["rule"]), one.get("score"), others)
