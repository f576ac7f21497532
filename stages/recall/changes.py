"""Changed records rank under their successors, and turns whose items were superseded say so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schemas.memory import RecordRow
from stages.ports import Found, Search
from stages.recall.retrieve import Scope
from stages.stored import UNDONE

_STEPS = 4
"""Changes of changes that are followed; one more round of reads each, and there seldom is a second."""


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

    def note(self, items: Sequence[Found], *, brief: bool = False) -> str:
        """Return what is to be said with a turn of these items: a line for each record that replaced one of them.

        It says whether the item was changed (it held until then) or corrected (it never did). A record of
        the same turn (merged, or of a revision) supersedes nothing that the turn says. ``brief``: without its text.
        """
        lines: dict[str, str] = {}
        for item in items:
            row = self.superseding(item.record)
            if row is not None and item.record.provenance[0] != row.provenance[0]:
                lines.setdefault(row.id, _line("changed" if item.changed else "corrected", row, brief=brief))
        return "".join(lines.values())


def _took_in(row: RecordRow, record: RecordRow) -> bool:
    """Tell whether a record of consolidation stands for one, or is that one, brought back by an undo."""
    return row.id == record.id or (row.run is not None and set(record.provenance) <= set(row.provenance))


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
    chain = _Chain({one.record.id: one.record for one in items}, {}, set())
    open_ = _successors(items)
    for _ in range(_STEPS):
        wanted = [name for name in dict.fromkeys(open_.values()) if name not in chain.standing]
        chain.after.update(open_)
        if not wanted:
            break
        found = await search.fetch(scope.space, scope.as_of, wanted)
        chain.known.update({one.record.id: one.record for one in found})
        chain.standing.update(one.record.id for one in found if one.until > scope.as_of and scope.shows(one.record))
        open_ = _successors(found)
    ends = {name: chain.end(name) for name in chain.after}
    return Changes({name: row for name, row in ends.items() if row is not None})


def _successors(found: Sequence[Found]) -> dict[str, str]:
    next_ = {one.record.id: one.changed[1] if one.changed else one.successor for one in found}
    return {name: successor for name, successor in next_.items() if successor is not None}


@dataclass(frozen=True, slots=True)
class _Chain:
    """Records met, what came after which, and which of them hold."""

    known: dict[str, RecordRow]
    after: dict[str, str]
    standing: set[str]

    def end(self, name: str) -> RecordRow | None:
        """Return the last record of the chain that begins at ``name``."""
        row: RecordRow | None = None
        came = self.known.get(name)
        passed: set[str] = set()
        while name in self.after and name not in passed:
            passed.add(name)
            if not _is_merged(self.known.get(name)):
                came = self.known.get(name)
            name = self.after[name]
            if _is_copy_of_other(self.known.get(name), came):
                return came
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
