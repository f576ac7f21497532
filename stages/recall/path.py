"""The branch-local path of a placement: its interactions, nearest first (ArborMem, stage 2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, zip_longest

from schemas.localized import Placement, Rule
from schemas.memory import RecordRow, TurnDetail
from stages.ports import Search
from stages.recall.retrieve import TURNS, Scope

_READ = 128
"""Newest turns of a branch that are read: more than 60 % of a budget of 4,000 tokens can hold, summaries included."""

_CLOSE = 700
"""Thousandths of a logit by which a runner-up may lie back and still be about half as likely: then both paths go in."""


@dataclass(frozen=True, slots=True)
class PathTurn:
    """A turn on the path: its first record, and the whole of its text where it has several."""

    row: RecordRow
    detail: TurnDetail
    text: str


@dataclass(frozen=True, slots=True)
class Stretch:
    """An interaction on the path: its turns, oldest first."""

    turns: tuple[PathTurn, ...]


async def read_path(search: Search, scope: Scope, placement: Placement) -> tuple[Stretch, ...]:
    """Return the interactions from the parent up to the root, nearest first; two close branches take turns.

    Nothing for a new root. A branch longer than what is read is cut at its old end.

    Raises:
        Unavailable: if the index does not answer.
    """
    if placement.rule is Rule.NEW_ROOT or placement.parent_turn_id is None:
        return ()
    rival = await _rival(search, scope, placement)
    tips = [placement.parent_turn_id, *([rival.provenance[0]] if rival else [])]
    branches = {placement.branch, *([rival.branch] if rival and rival.branch is not None else [])}
    turns = _turns(await _rows(search, scope, frozenset(branches)))
    paths = [_path(turns, tip) for tip in tips]
    return tuple(dict.fromkeys(one for one in chain(*zip_longest(*paths)) if one is not None))


def turns_of(path: Iterable[Stretch]) -> tuple[str, ...]:
    """Return the ids of the turns on a path."""
    return tuple(dict.fromkeys(turn.detail.turn_id for stretch in path for turn in stretch.turns))


async def _rival(search: Search, scope: Scope, placement: Placement) -> RecordRow | None:
    """Return the first runner-up close to the choice, if it lies in another branch."""
    least = None if placement.score is None else placement.score - _CLOSE
    close = [one for one in placement.runners_up if least is not None and one.score >= least]
    if not close:
        return None
    found = await search.matching(replace(scope.where(TURNS), turn_ids=frozenset({close[0].turn_id})), 1)
    return next((one.record for one in found if one.record.branch != placement.branch), None)


async def _rows(search: Search, scope: Scope, branches: frozenset[int]) -> list[RecordRow]:
    found = await search.matching(replace(scope.where(TURNS), branches=branches), _READ * len(branches))
    return [one.record for one in found]


def _turns(rows: Iterable[RecordRow]) -> dict[str, PathTurn]:
    """Return the turns by id, oldest first; the pieces of an over-long one are put together."""
    pieces: defaultdict[str, list[RecordRow]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: (row.since, row.piece)):
        pieces[row.provenance[0]].append(row)
    return {
        name: PathTurn(parts[0], parts[0].turn, "\n".join(part.text for part in parts))
        for name, parts in pieces.items()
        if parts[0].turn is not None
    }


def _path(turns: Mapping[str, PathTurn], tip: str) -> list[Stretch]:
    order = list(dict.fromkeys(one.detail.placement.interaction for one in _upwards(turns, tip)))
    members: defaultdict[int, list[PathTurn]] = defaultdict(list)
    for one in turns.values():
        members[one.detail.placement.interaction].append(one)
    return [Stretch(tuple(members[interaction])) for interaction in order]


def _upwards(turns: Mapping[str, PathTurn], tip: str) -> Iterator[PathTurn]:
    """Yield the turn ``tip`` and those above it; a parent edge leads to an earlier position, so this ends."""
    name: str | None = tip
    while name is not None and name in turns:
        one = turns[name]
        yield one
        name = one.detail.placement.parent_turn_id
