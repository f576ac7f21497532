"""Changed records rank under their successors, and turns whose items were superseded say so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from schemas.memory import RecordRow
from stages.ports import Found, Search
from stages.recall.candidate import said_at
from stages.recall.retrieve import Scope
from stages.stored import UNDONE

_STEPS = 4
"""Changes of changes that are followed; a round of reads each, and there seldom is a second. Nights count as none."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What became of records: record id to the record that holds now."""

    newest: Mapping[str, RecordRow]

    def of(self, record_id: str) -> RecordRow | None:
        """Return what holds instead of a record, ``None`` where it holds itself."""
        return self.newest.get(record_id)

    def superseding(self, record: RecordRow) -> RecordRow | None:
        """Return what holds instead of a record, ``None`` where that only took it in: it says the same, or more."""
        row = self.newest.get(record.id)
        return None if row is None or _took_in(row, record) else row

    def took_in(self, record: RecordRow) -> bool:
        """Tell whether what holds instead of a record only took it in."""
        row = self.newest.get(record.id)
        return row is not None and _took_in(row, record)

    def note(self, items: Sequence[Found], *, brief: bool = False) -> str:
        """Return what is to be said with a turn of these items: a line for each record that replaced one of them.

        It says whether the item was changed (it held until then) or corrected (it never did). A record of
        the same turn (merged, or of a revision) supersedes nothing that the turn says. In order of when they were
        said. ``brief``: without its text.
        """
        said: dict[str, tuple[RecordRow, str]] = {}
        for item in items:
            row = self.superseding(item.record)
            if row is not None and item.record.provenance[0] != row.provenance[0]:
                said.setdefault(row.id, (row, "changed" if item.changed else "corrected"))
        return "".join(_line(what, row, brief=brief) for row, what in sorted(said.values(), key=_when))


def _took_in(row: RecordRow, record: RecordRow) -> bool:
    """Tell whether a record of consolidation stands for one, or is that one, brought back by an undo."""
    return row.id == record.id or (row.run is not None and set(record.provenance) <= set(row.provenance))


def _when(told: tuple[RecordRow, str]) -> tuple[int, str, int]:
    """Return what lines are ordered by: no id, since what an undo brings back has another one."""
    row, _ = told
    return said_at(row), row.text, row.revision


def _line(what: str, row: RecordRow, *, brief: bool) -> str:
    where = f"{what} {row.at:%Y-%m-%d}, {row.provenance[0]}"
    return f" [{where}]" if brief else f"\n[{where}: {_said(row)}]"


def _said(row: RecordRow) -> str:
    """Return what a record says; of a list that it is one, since it is a hit of its own and may be a page."""
    return f"{row.form} {row.heading!r}, revision {row.revision}" if row.form is not None else row.text


async def changes(search: Search, scope: Scope, items: Sequence[Found]) -> Changes:
    """Follow the changes and corrections of ``items`` to the records that hold as of the position of ``scope``.

    Raises:
        Unavailable: if the index does not answer.
    """
    chain = _Chain({one.record.id: one.record for one in items})
    open_ = _successors(items)
    while open_:
        wanted = [name for name in dict.fromkeys(open_.values()) if name not in chain.fetched]
        found = await search.fetch(scope.space, scope.as_of, wanted) if wanted else []
        chain.fetched.update(wanted)
        chain.known.update({one.record.id: one.record for one in found})
        chain.standing.update(one.record.id for one in found if one.until > scope.as_of and scope.shows(one.record))
        chain.follow(open_)
        open_ = _successors([one for one in found if one.record.id in chain.steps])
    ends = {name: chain.end(name) for name in chain.after}
    return Changes({name: row for name, row in ends.items() if row is not None})


def _successors(found: Sequence[Found]) -> dict[str, str]:
    next_ = {one.record.id: one.changed[1] if one.changed else one.successor for one in found}
    return {name: successor for name, successor in next_.items() if successor is not None}


@dataclass(frozen=True, slots=True)
class _Chain:
    """Records met, what came after which, which of them hold, and by how many changes each was come to."""

    known: dict[str, RecordRow]
    after: dict[str, str] = field(default_factory=dict)
    standing: set[str] = field(default_factory=set)
    fetched: set[str] = field(default_factory=set)
    steps: dict[str, int] = field(default_factory=dict)

    def follow(self, successors: Mapping[str, str]) -> None:
        """Go on from records to their successors: over ``_STEPS`` changes, and over what a night or its undo wrote."""
        for name, successor in successors.items():
            row = self.known.get(successor)
            count = self.steps.get(name, 0) + (row is None or row.run is None)
            if count <= _STEPS:
                self.after[name] = successor
                self.steps.setdefault(successor, count)

    def end(self, name: str) -> RecordRow | None:
        """Return the last record of the chain that begins at ``name``; none of one that itself was taken back."""
        row: RecordRow | None = None
        came = self.known.get(name)
        passed: set[str] = set()
        while name in self.after and name not in passed:
            passed.add(name)
            before = self.known.get(name)
            if not _is_merged(before):
                came = before
            name = self.after[name]
            if _is_copy_of_other(self.known.get(name), came):
                return None if came is before else came
            row = self.known[name] if name in self.standing else row
        return row


def _is_merged(row: RecordRow | None) -> bool:
    return row is not None and row.run is not None and not row.run.startswith(UNDONE)


def _is_copy_of_other(row: RecordRow | None, came: RecordRow | None) -> bool:
    """Tell whether a record that an undo brought back stands for another than the one that the chain came by.

    What was merged has the first of these for its successor, whichever of them one comes from; so the one itself,
    which the undo brought back too, says what holds.
    """
    back = row is not None and row.run is not None and row.run.startswith(UNDONE)
    return back and came is not None and row is not None and (row.text, row.provenance) != (came.text, came.provenance)
