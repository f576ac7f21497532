"""The records of candidates: what they say, which left working memory, and when what changed them began."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from schemas.memory import RecordRow
from stages.ports import Found, Search
from stages.recall.candidate import Candidate
from stages.recall.changes import changes
from stages.recall.graph import NOTHING, Reached
from stages.recall.retrieve import Scope


@dataclass(frozen=True, slots=True)
class Bodies:
    """Records by id. ``left`` are items that left working memory, ``ends`` the starts of successors, by changed id.

    ``absorbed`` are closed ones that the graph reached and whose content holds: consolidation took them in, or an undo
    brought them back as another record. What led to them leads to the turns that they rest on.
    """

    rows: Mapping[str, RecordRow]
    left: frozenset[str]
    ends: Mapping[str, datetime]
    absorbed: Mapping[str, RecordRow]

    @classmethod
    async def read(
        cls,
        search: Search,
        scope: Scope,
        candidates: Sequence[Candidate],
        *,
        timely: bool,
        reached: Reached = NOTHING,
    ) -> Self:
        """Read the records shown and the best items, since keys are theirs; where time counts, the turns' own too.

        For a guess, what of its turn was found beside it is read as well, and what the graph reached.

        Raises:
            Unavailable: if the index does not answer.
        """
        wanted = [one.shown for one in candidates] + [one.item for one in candidates if one.item is not None]
        wanted += [name for one in candidates for name in one.alike]
        wanted += reached.ids
        if timely:
            wanted += [one.own for one in candidates if one.own is not None]
        read = await search.fetch(scope.space, scope.as_of, list(dict.fromkeys(wanted)))
        read += await _instead(search, scope, candidates, read)
        found = [one for one in read if scope.shows(one.record) and one.until > scope.as_of]
        ends = await _ends(search, scope, found) if timely else {}
        left = frozenset(one.record.id for one in found if one.left is not None)
        rows = {**reached.read, **{one.record.id: one.record for one in found}}
        return cls(rows, left, ends, await _absorbed(search, scope, read, reached))


async def _instead(search: Search, scope: Scope, candidates: Sequence[Candidate], read: Sequence[Found]) -> list[Found]:
    """Return what stands for the turns whose record shown is a guess; where there are none, nothing is read."""
    guesses = {one.record.id for one in read if one.record.rests_on is not None}
    names = [one.instead.record_id for one in candidates if one.shown in guesses and one.instead is not None]
    return await search.fetch(scope.space, scope.as_of, names) if names else []


async def _absorbed(search: Search, scope: Scope, read: Sequence[Found], reached: Reached) -> dict[str, RecordRow]:
    """Return the closed records that were reached and that consolidation took in; else nothing is read."""
    closed = [one for one in read if one.record.id in reached.records and one.until <= scope.as_of]
    shown = [one for one in closed if scope.shows(one.record)]
    marks = await changes(search, scope, shown)
    return {one.record.id: one.record for one in shown if marks.took_in(one.record)}


async def _ends(search: Search, scope: Scope, found: Sequence[Found]) -> dict[str, datetime]:
    """Return when a changed record's time ends: at its successor's start."""
    successors = {one.record.id: one.changed[1] for one in found if one.changed is not None}
    if not successors:
        return {}
    read = await search.fetch(scope.space, scope.as_of, list(dict.fromkeys(successors.values())))
    starts = {one.record.id: _start(one.record) for one in read if scope.shows(one.record)}
    return {name: starts[successor] for name, successor in successors.items() if successor in starts}


def _start(row: RecordRow) -> datetime:
    return row.interval.start if row.interval else row.at
