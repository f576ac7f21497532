"""From matches of records to candidate turns: the best projection of each turn counts, never the sum."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from schemas.memory import RecordKind
from stages.ports import Match
from stages.recall.scale import UNIT, Scale

LENT = 250
"""Thousandths of its best neighbour's score that a turn gets: an answer beside a good question is found with it."""


@dataclass(frozen=True, slots=True)
class Hits:
    """What one retriever found, best first. ``name`` is the retriever's ("dense", "bm25").

    ``rest_is_zero``: the list is complete, what it leaves out has no word of the question. Without that, one match of
    a rare word would be a list without deviation, and say nothing. ``instead`` is the number of the list that stands
    in for this one with turns that have no record of its kind, such as the newest, which has no window yet.
    """

    name: str
    matches: Sequence[Match]
    rest_is_zero: bool = False
    instead: int | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A turn that may be evidence. ``score`` is in thousandths; ``why`` is what each retriever gave it.

    ``shown`` is the id of the record that stands for it, ``own`` and ``item`` are its best own record and its best
    item, where found: they hold its times. ``anchored``: the record is a window, evidence of its anchor only.
    """

    turn_id: str
    score: int
    why: Mapping[str, int]
    shown: str
    own: str | None = None
    item: str | None = None
    anchored: bool = False
    branch: int | None = None

    def plus(self, name: str, amount: int) -> Candidate:
        """Return the candidate with ``amount`` more, and the reason; unchanged where it is 0."""
        return replace(self, score=self.score + amount, why={**self.why, name: amount}) if amount else self


def ranked(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return candidates best first, ties by turn id."""
    return sorted(candidates, key=lambda candidate: (-candidate.score, candidate.turn_id))


@dataclass(slots=True)
class _Turn:
    """What was found of a turn. ``score`` sums standardized scores, ``matches`` has the number of the list with each.

    ``position`` is the turn's own: a window's is one later, since it is known with the next turn.
    """

    turn_id: str
    position: int
    score: int = 0
    session: str | None = None
    branch: int | None = None
    parent: str | None = None
    matches: list[tuple[int, Match]] = field(default_factory=list)


def pooled(found: Sequence[Hits], limit: int, lacking: Callable[[int], bool] = lambda _: False) -> list[Candidate]:
    """Return the ``limit`` best candidates: standardized scores of all retrievers summed, neighbours lending.

    A retriever gives a turn the score of its best record there; what it did not find gets the scale's floor.
    ``lacking`` tells of the position of a turn whether it lacks the records that lists with ``instead`` are of.
    """
    turns: dict[str, _Turn] = {}
    best = [_gather(number, hits.matches, turns) for number, hits in enumerate(found)]
    scales = [
        Scale.of(scores.values(), len(turns) - len(scores) if hits.rest_is_zero else 0)
        for hits, scores in zip(found, best, strict=True)
    ]
    _score(turns, best, scales)
    for turn in (turn for turn in turns.values() if lacking(turn.position)):
        turn.score += sum(_stand_in(turn.turn_id, number, hits, best, scales) for number, hits in enumerate(found))
    lent = _lent(turns)
    order = sorted(turns.values(), key=lambda turn: (-turn.score - lent[turn.turn_id], turn.turn_id))
    return [_candidate(turn, found, scales).plus("neighbour", lent[turn.turn_id]) for turn in order[:limit]]


def _gather(number: int, matches: Sequence[Match], turns: dict[str, _Turn]) -> dict[str, int]:
    """Add one list to the turns; return the best raw score of each turn in it."""
    best: dict[str, int] = {}
    for match in matches:
        turn_id = match.turn_id
        if turn_id not in best:
            best[turn_id] = match.score
        position = match.since - (match.kind is RecordKind.WINDOW)
        turn = turns.get(turn_id)
        if turn is None:
            turn = turns[turn_id] = _Turn(turn_id, position, 0, match.session, match.branch)
        elif position < turn.position:
            turn.position = position
        if turn.parent is None:
            turn.parent = match.parent
        turn.matches.append((number, match))
    return best


def _score(turns: Mapping[str, _Turn], best: Sequence[Mapping[str, int]], scales: Sequence[Scale]) -> None:
    floors = sum(scale.floor for scale in scales)
    for turn in turns.values():
        turn.score = floors
    for scores, scale in zip(best, scales, strict=True):
        floor = scale.floor
        for turn_id, score in scores.items():
            turns[turn_id].score += scale(score) - floor


def _stand_in(turn_id: str, number: int, hits: Hits, best: Sequence[Mapping[str, int]], scales: Sequence[Scale]) -> int:
    """Return what a turn gains over the floor of a list that has no record of it."""
    if hits.instead is None or turn_id in best[number]:
        return 0
    other = scales[hits.instead]
    score = best[hits.instead].get(turn_id)
    return (other.floor if score is None else other(score)) - scales[number].floor


def _lent(turns: Mapping[str, _Turn]) -> dict[str, int]:
    """Return what each turn is lent by the best of its neighbours.

    Neighbours are the turns before and after in the session, the parent and the children, as far as they were found.
    """
    there = {(turn.session, turn.position): turn for turn in turns.values()}
    best: defaultdict[str, int] = defaultdict(int)
    for one in turns.values():
        for other in (there.get((one.session, one.position - 1)), turns.get(one.parent or "")):
            if other is not None:
                best[one.turn_id] = max(best[one.turn_id], other.score)
                best[other.turn_id] = max(best[other.turn_id], one.score)
    return {turn_id: LENT * best[turn_id] // UNIT for turn_id in turns}


def _candidate(turn: _Turn, found: Sequence[Hits], scales: Sequence[Scale]) -> Candidate:
    why: dict[str, int] = {}
    given: set[int] = set()
    worth: defaultdict[str, int] = defaultdict(int)
    for number, match in _best_by_role(turn):
        scale = scales[number]
        if number not in given:
            why[f"{found[number].name}_{match.kind}"] = scale(match.score)
        given.add(number)
        worth[_role(match)] += scale(match.score) - scale.floor
    shown = _shown(turn, worth)
    return Candidate(
        turn_id=turn.turn_id,
        score=turn.score,
        why=why,
        shown=shown.record_id,
        own=_id_of(turn, "own"),
        item=_id_of(turn, "item"),
        anchored=shown.kind is RecordKind.WINDOW,
        branch=turn.branch,
    )


def _role(match: Match) -> str:
    """Return what a record is to its turn: its own text, its window, or an item of it."""
    if match.kind is RecordKind.TURN:  # compared one by one: hashing an enum takes longer, and this runs 500 times
        return "own"
    return "window" if match.kind is RecordKind.WINDOW else "item"


def _best_by_role(turn: _Turn) -> list[tuple[int, Match]]:
    """Return of each list the best match in each role; lists are best first."""
    kept: dict[tuple[int, str], tuple[int, Match]] = {}
    for number, match in turn.matches:
        kept.setdefault((number, _role(match)), (number, match))
    return list(kept.values())


def _id_of(turn: _Turn, role: str) -> str | None:
    return next((match.record_id for _, match in turn.matches if _role(match) == role), None)


def _shown(turn: _Turn, worth: Mapping[str, int]) -> Match:
    """Return the record that stands for the turn: its own, unless an item of it is the better evidence."""
    roles = {role for role in ("own", "item", "window") if role in worth}
    role = "item" if "item" in roles and worth["item"] > worth.get("own", -1) else "own" if "own" in roles else "window"
    return next(match for _, match in turn.matches if _role(match) == role)
