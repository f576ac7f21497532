"""From matches of records to candidate turns: the best projection of each turn counts, never the sum."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from schemas.memory import ITEM_KINDS, RecordKind
from stages.ports import Match
from stages.recall.candidate import Candidate, Instead
from stages.recall.scale import UNIT, Scale

_TURN, _WINDOW = RecordKind.TURN, RecordKind.WINDOW
_ITEMS = frozenset({*ITEM_KINDS, RecordKind.STRUCTURED})

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


@dataclass(slots=True)
class _Turn:
    """What was found of a turn. ``score`` sums standardized scores, ``matches`` has the number of the list with each.

    ``position`` is the turn's own: a window's is one later, since it is known with the next turn. It is unknown where
    nothing was found of the turn but a record that rests on it beside others.
    """

    turn_id: str
    position: int | None = None
    session: str | None = None
    branch: int | None = None
    parent: str | None = None
    score: int = 0
    matches: list[tuple[int, Match]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Pool:
    """All turns of which anything was found: ``order`` has them best first, ``floor`` is what any other turn scores."""

    found: Sequence[Hits]
    scales: Sequence[Scale]
    lent: Mapping[str, int]
    order: Sequence[_Turn]
    floor: int

    def best(self, limit: int) -> list[Candidate]:
        """Return the ``limit`` best candidates."""
        return [self._candidate(turn) for turn in self.order[:limit]]

    def bare(self, turn_ids: Collection[str]) -> dict[str, int]:
        """Return what these turns score, with what neighbours lend, found or not."""
        known = {turn.turn_id: turn.score + self.lent[turn.turn_id] for turn in self.order}
        return {turn_id: known.get(turn_id, self.floor) for turn_id in turn_ids}

    def leading(self, limit: int) -> dict[str, int]:
        """Return the scores of the ``limit`` best turns."""
        return {turn.turn_id: turn.score + self.lent[turn.turn_id] for turn in self.order[:limit]}

    def positions(self) -> dict[str, int]:
        """Return the position of each turn found, where it is known."""
        return {turn.turn_id: turn.position for turn in self.order if turn.position is not None}

    def _candidate(self, turn: _Turn) -> Candidate:
        return _candidate(turn, self.found, self.scales).plus("neighbour", self.lent[turn.turn_id])


def pooled(found: Sequence[Hits], lacking: Callable[[int], bool] = lambda _: False) -> Pool:
    """Return the turns found: standardized scores of all retrievers summed, neighbours lending.

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
    for turn in (turn for turn in turns.values() if turn.position is not None and lacking(turn.position)):
        turn.score += sum(_stand_in(turn.turn_id, number, hits, best, scales) for number, hits in enumerate(found))
    lent = _lent(turns)
    order = sorted(turns.values(), key=lambda turn: (-turn.score - lent[turn.turn_id], turn.turn_id))
    return Pool(found, scales, lent, order, sum(scale.floor for scale in scales))


def _gather(number: int, matches: Sequence[Match], turns: dict[str, _Turn]) -> dict[str, int]:
    """Add one list to the turns; return the best raw score of each turn in it.

    A record that rests on several turns gives its score to each: evidence is one by its provenance, never a sum.
    """
    best: dict[str, int] = {}
    for match in matches:
        _, kind, turn_id, since, score, _, branch, parent, session, said_at, others = match
        if turn_id not in best:
            best[turn_id] = score
        position = said_at if said_at is not None else since - 1 if kind is _WINDOW else since
        turn = turns.get(turn_id)
        if turn is None:
            turn = turns[turn_id] = _Turn(turn_id, position, session, branch)
        elif turn.position is None:
            turn.position, turn.session, turn.branch = position, session, branch
        elif position < turn.position:
            turn.position = position
        if turn.parent is None:
            turn.parent = parent
        turn.matches.append((number, match))
        if others:
            _spread(number, match, best, turns)
    return best


def _spread(number: int, match: Match, best: dict[str, int], turns: dict[str, _Turn]) -> None:
    """Give a match to the further turns that its record rests on; nothing else is known of them by it."""
    for turn_id in match.others:
        best.setdefault(turn_id, match.score)
        turn = turns.get(turn_id)
        if turn is None:
            turn = turns[turn_id] = _Turn(turn_id)
        turn.matches.append((number, match))


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
    there = {(turn.session, turn.position): turn for turn in turns.values() if turn.position is not None}
    best = dict.fromkeys(turns, 0)
    for turn_id, one in turns.items():
        before = there.get((one.session, one.position - 1)) if one.position is not None else None
        for other in (before, turns.get(one.parent) if one.parent else None):
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
    alike = _alike(turn, first["item"]) if "item" in first else ()
    if alike:
        first["item"] = alike[0]
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
        alike=tuple(one.record_id for one in alike[1:]),
    )


def _alike(turn: _Turn, best: Match) -> list[Match]:
    """Return the turn's items that fit no worse than ``best`` in the first list that has any, where there are such.

    Of those only the ones that further lists find best, and alike: they are not told apart by their ids, since what an
    undo brings back has another one.
    """
    number = next(number for number, match in turn.matches if match is best)
    tied = [one for at, one in turn.matches if at == number and one.score == best.score and one.kind in _ITEMS]
    if len(tied) == 1:
        return []
    given: dict[str, list[tuple[int, int]]] = {one.record_id: [] for one in tied}
    for at, match in turn.matches:
        if match.record_id in given:
            given[match.record_id].append((-at, match.score))
    most = max(given.values())
    return [one for one in tied if given[one.record_id] == most]


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
