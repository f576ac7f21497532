"""Changed records rank under their successors, and turns whose items were superseded say so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schemas.memory import RecordRow
from stages.ports import Found, Search
from stages.recall.retrieve import Scope

_STEPS = 4
"""Changes of changes that are followed; one more round of reads each, and there seldom is a second."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What became of records: record id to the record that holds now."""

    newest: Mapping[str, RecordRow]

    def of(self, record_id: str) -> RecordRow | None:
        """Return what holds instead of a record, ``None`` where it holds itself."""
        return self.newest.get(record_id)

    def note(self, items: Sequence[Found], *, brief: bool = False) -> str:
        """Return what is to be said with a turn of these items: a line for each record that replaced one of them.

        It says whether the item was changed (it held until then) or corrected (it never did). A record of
        the same turn (merged, or of a revision) supersedes nothing that the turn says. ``brief``: without its text.
        """
        lines: dict[str, str] = {}
        for item in items:
            row = self.newest.get(item.record.id)
            if row is not None and item.record.provenance[0] != row.provenance[0]:
                lines.setdefault(row.id, _line("changed" if item.changed else "corrected", row, brief=brief))
        return "".join(lines.values())


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
    after: dict[str, str] = {}
    rows: dict[str, RecordRow] = {}
    open_ = _successors(items)
    for _ in range(_STEPS):
        wanted = [name for name in dict.fromkeys(open_.values()) if name not in rows]
        after |= open_
        if not wanted:
            break
        found = await search.fetch(scope.space, scope.as_of, wanted)
        rows |= {one.record.id: one.record for one in found if one.until > scope.as_of and scope.shows(one.record)}
        open_ = _successors(found)
    ends = {name: _end(after, rows, name) for name in after}
    return Changes({name: row for name, row in ends.items() if row is not None})


def _successors(found: Sequence[Found]) -> dict[str, str]:
    next_ = {one.record.id: one.changed[1] if one.changed else one.successor for one in found}
    return {name: successor for name, successor in next_.items() if successor is not None}


def _end(after: Mapping[str, str], rows: Mapping[str, RecordRow], name: str) -> RecordRow | None:
    """Return the last record of the chain that begins at ``name``."""
    row: RecordRow | None = None
    passed: set[str] = set()
    while name in after and name not in passed:
        passed.add(name)
        name = after[name]
        row = rows.get(name, row)
    return row
