"""From chosen turns to hits: successors above what they replaced, texts that show the evidence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from schemas.memory import RecordKind, RecordRow
from schemas.recall import Hit
from stages.ports import Found, Search
from stages.recall.candidate import Candidate, ranked, said_at
from stages.recall.changes import Changes, changes
from stages.recall.rank import chosen, turn_ids
from stages.recall.retrieve import ITEMS, TURNS, Scope
from stages.recall.scale import UNIT

_ROWS_A_TURN = 20
"""Records read for a turn: its pieces and items; more than a turn of a dozen sentences has."""


@dataclass(frozen=True, slots=True)
class Around:
    """What rests on the chosen turns: their own records, their items, and what became of these."""

    own: Mapping[str, RecordRow]
    items: Mapping[str, Sequence[Found]]
    changes: Changes

    @classmethod
    async def read(cls, search: Search, scope: Scope, turns: Sequence[str]) -> Self:
        """Read what rests on ``turns``.

        Raises:
            Unavailable: if the index does not answer.
        """
        where = replace(scope.where(TURNS | ITEMS), turn_ids=frozenset(turns), closed_too=True)
        found = await search.matching(where, _ROWS_A_TURN * len(turns)) if turns else []
        items = [one for one in found if one.record.kind in ITEMS]
        marks = await changes(search, scope, items)
        return cls(_own(found, scope.as_of), _by_turn(items), marks)

    def note(self, turn_id: str, *, brief: bool = False) -> str:
        """Return what is to be said with a turn: which items of it something replaced."""
        return self.changes.note(self.items.get(turn_id, ()), brief=brief)

    def now(self, one: Candidate) -> list[RecordRow]:
        """Return the records that replaced items of a candidate's turn."""
        rows = (self.changes.superseding(item.record) for item in self.items.get(one.turn_id, ()))
        return [row for row in rows if row is not None]


def _own(found: Iterable[Found], as_of: int) -> dict[str, RecordRow]:
    """Return the first piece of each turn whose record is open."""
    pieces = [one.record for one in found if one.record.kind is RecordKind.TURN and one.until > as_of]
    return {row.provenance[0]: row for row in sorted(pieces, key=lambda row: -row.piece)}


def _by_turn(items: Iterable[Found]) -> Mapping[str, Sequence[Found]]:
    grouped: defaultdict[str, list[Found]] = defaultdict(list)
    for item in sorted(items, key=lambda item: (said_at(item.record), item.record.text)):
        for turn_id in _turns(item.record):
            grouped[turn_id].append(item)
    return grouped


def _turns(row: RecordRow) -> tuple[str, ...]:
    """Return the turns that a record says something of: all that it rests on; a list is shown with its newest."""
    return row.provenance[:1] if row.kind is RecordKind.STRUCTURED else row.provenance


def under_successors(
    order: Sequence[Candidate], around: Around, bodies: Mapping[str, RecordRow]
) -> tuple[list[Candidate], dict[str, RecordRow]]:
    """Return the candidates with each changed one just under what replaced it, and the bodies with those added.

    A successor that was not found is brought where the changed record itself is the evidence, not just its turn.
    """
    there = {one.turn_id: one for one in order}
    shown = dict(bodies)
    for one in order:
        for row in around.now(one):
            turn = row.provenance[0]
            if turn not in there and around.changes.of(one.shown) == row:
                there[turn] = _brought(row)
                shown[row.id] = row
            if turn in there and turn != one.turn_id:
                there[turn] = _above(there[turn], there[one.turn_id])
    return ranked(there.values()), shown


def _brought(row: RecordRow) -> Candidate:
    return Candidate(turn_id=row.provenance[0], score=0, why={}, shown=row.id, item=row.id, branch=row.branch)


def _above(one: Candidate, other: Candidate) -> Candidate:
    return one if one.score > other.score else one.plus("successor", other.score + 1 - one.score)


async def to_hits(
    search: Search, scope: Scope, candidates: Sequence[Candidate], bodies: Mapping[str, RecordRow], k: int
) -> tuple[Hit, ...]:
    """Return the hits of the first ``k`` distinct turns among ranked candidates.

    Raises:
        Unavailable: if the index does not answer.
    """
    first = chosen(candidates, bodies, k)
    around = await Around.read(search, scope, [one.turn_id for one in first])
    order, shown = under_successors(first, around, bodies)
    return tuple(_hit(one, shown[one.shown], around) for one in chosen(order, shown, k))


def _hit(one: Candidate, row: RecordRow, around: Around) -> Hit:
    """A turn that only its window gave away is shown by its own record."""
    best = around.own.get(one.turn_id, row) if row.kind is RecordKind.WINDOW else row
    return Hit(
        record_id=best.id,
        kind=best.kind,
        turn_ids=turn_ids(row, one),
        speaker=best.speaker.label if best.speaker else best.owner,
        at=best.at,
        text=best.text + around.note(one.turn_id),
        score=one.score / UNIT,
        why={name: given / UNIT for name, given in one.why.items()},
        suspect=best.suspect,
    )
