"""From matches of records to candidate turns: the best projection of each turn counts, never the sum."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from schemas.memory import RecordKind
from stages.ports import Match
from stages.recall.scale import UNIT, Scale

_TURN, _WINDOW = RecordKind.TURN, RecordKind.WINDOW

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
class Instead:
    """The turn's own record, or else its window, behind an item that stands for the turn: should that be a guess.

    ``loss`` is what the turn scores less, in thousandths, without its items.
    """

    record_id: str
    loss: int
    anchored: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """A turn that may be evidence. ``score`` is in thousandths; ``why`` is what each retriever gave it.

    ``shown`` is the id of the record that stands for it, ``own`` and ``item`` are its best own record and its best
    item, where found: they hold its times. ``anchored``: the record is a window, evidence of its anchor only.
    ``instead`` is there where an item is shown and the turn was found without it too.
    """

    turn_id: str
    score: int
    why: Mapping[str, int]
    shown: str
    own: str | None = None
    item: str | None = None
    anchored: bool = False
    branch: int | None = None
    instead: Instead | None = None

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
    session: str | None = None
    branch: int | None = None
    parent: str | None = None
    score: int = 0
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
        _, kind, turn_id, since, score, _, branch, parent, session = match
        if turn_id not in best:
            best[turn_id] = score
        position = since - 1 if kind is _WINDOW else since
        turn = turns.get(turn_id)
        if turn is None:
            turn = turns[turn_id] = _Turn(turn_id, position, session, branch)
        elif position < turn.position:
            turn.position = position
        if turn.parent is None:
            turn.parent = parent
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
    best = dict.fromkeys(turns, 0)
    for turn_id, one in turns.items():
        for other in (there.get((one.session, one.position - 1)), turns.get(one.parent) if one.parent else None):
            if other is not None:
                best[turn_id] = max(best[turn_id], other.score)
                best[other.turn_id] = max(best[other.turn_id], one.score)
    return {turn_id: LENT * score // UNIT for turn_id, score in best.items()}


def _candidate(turn: _Turn, found: Sequence[Hits], scales: Sequence[Scale]) -> Candidate:
    why: dict[str, int] = {}
    worth: dict[str, int] = {}
    first: dict[str, Match] = {}
    given = -1
    for number, role, match in _best_by_role(turn):
        scale = scales[number]
        score = scale(match.score)
        if number != given:
            why[f"{found[number].name}_{match.kind}"] = score
        given = number
        worth[role] = worth.get(role, 0) + score - scale.floor
        first.setdefault(role, match)
    role = _shown(worth)
    shown = first[role]
    return Candidate(
        turn_id=turn.turn_id,
        score=turn.score,
        why=why,
        shown=shown.record_id,
        own=first["own"].record_id if "own" in first else None,
        item=first["item"].record_id if "item" in first else None,
        anchored=shown.kind is _WINDOW,
        branch=turn.branch,
        instead=_instead(turn, first, scales) if role == "item" else None,
    )


def _instead(turn: _Turn, first: Mapping[str, Match], scales: Sequence[Scale]) -> Instead | None:
    """Return what stands for a turn without its items, if anything of it was found beside them."""
    other = first.get("own") or first.get("window")
    if other is None:
        return None
    best: dict[int, int] = {}
    plain: dict[int, int] = {}
    for number, role, match in _best_by_role(turn):
        best.setdefault(number, match.score)
        if role != "item":
            plain.setdefault(number, match.score)
    loss = sum(
        scales[number](score) - (scales[number](plain[number]) if number in plain else scales[number].floor)
        for number, score in best.items()
    )
    return Instead(other.record_id, loss, other.kind is _WINDOW)


def _best_by_role(turn: _Turn) -> Iterator[tuple[int, str, Match]]:
    """Give of each list the best match in each role (what a record is to its turn), lists in order, best first."""
    seen: set[tuple[int, str]] = set()
    for number, match in turn.matches:
        kind = match.kind
        # compared one by one: hashing an enum takes longer
        role = "own" if kind is _TURN else "window" if kind is _WINDOW else "item"
        if (number, role) not in seen:
            seen.add((number, role))
            yield number, role, match


def _shown(worth: Mapping[str, int]) -> str:
    """Return the role of the record that stands for the turn: its own, unless an item of it is the better evidence."""
    if "item" in worth and worth["item"] > worth.get("own", -1):
        return "item"
    return "own" if "own" in worth else "window"
