"""SQLite as the log: turns, stage records, memory, state, offsets, letters and crashes of one home."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from schemas.letter import Letter
from schemas.memory import Row
from schemas.space import Space
from streams.codec import Codec, codec, spelled
from streams.effects import Inbound
from streams.letters import oldest_first
from streams.records import HEADER, LETTER, Records, event_of, input_of
from streams.snapshot import PositionedRows
from streams.state import STATE_HEADER, StateHeader, StateRow
from streams.topology import FIRST, LAST, AnyStep

_ROW: Codec[Row] = codec(Row)


class Journal(Records):
    """The file of a home: what engines read and write, and what can be asked about it."""

    # what is there

    def state(self, stage: str, space: str) -> list[StateRow]:
        """Return every stored copy of a lane's state."""
        rows = self._db.execute(
            "SELECT part, slot, version, body FROM state WHERE stage = ? AND space = ?", (stage, space)
        )
        return [StateRow(*row) for row in rows]

    def header(self, stage: str, space: str) -> StateHeader:
        """Return where a stage stands in a space."""
        row = self._db.execute(
            "SELECT body FROM state WHERE stage = ? AND space = ? AND part = '' ORDER BY version DESC LIMIT 1",
            (stage, space),
        ).fetchone()
        return StateHeader() if row is None else STATE_HEADER.decode(row[0])

    def version(self, stage: str, space: str) -> int:
        """Return the version of a stage's state header in a space (0: none)."""
        (version,) = self._db.execute(
            "SELECT COALESCE(MAX(version), 0) FROM state WHERE stage = ? AND space = ? AND part = ''", (stage, space)
        ).fetchone()
        return int(version)

    def position(self, stage: str, space: str) -> int:
        """Return the last position that a stage finished in a space (-1: none)."""
        row = self._db.execute("SELECT position FROM lanes WHERE stage = ? AND space = ?", (stage, space)).fetchone()
        return -1 if row is None else int(row[0])

    def remembered(self) -> dict[str, int]:
        """Return the last position of each space that has reached memory."""
        return dict(self._db.execute("SELECT space, position FROM lanes WHERE stage = ?", (LAST.name,)))

    def memory(self, space: Space) -> Iterator[str]:
        """Return the canonical rows of a space, ordered by key."""
        rows = self._db.execute("SELECT body FROM memory WHERE space = ? ORDER BY key", (space,))
        return (body for (body,) in rows)

    def rows(self, space: Space, prefix: str = "") -> Iterator[Row]:
        """Return the rows of a space whose keys begin with ``prefix``, ordered by key."""
        return (_ROW.decode(body.encode()) for (body,) in self._bodies(space, prefix))

    def rows_now(self, space: Space, prefix: str) -> Iterator[Row]:
        """Return the same as of this moment, whatever is written before they are decoded: their bytes are all read."""
        return (_ROW.decode(body.encode()) for (body,) in self._bodies(space, prefix).fetchall())

    def _bodies(self, space: Space, prefix: str) -> sqlite3.Cursor:
        return self._db.execute(
            "SELECT body FROM memory WHERE space = ? AND key >= ? AND key < ? ORDER BY key",
            (space, prefix, prefix + "\U0010ffff"),
        )

    def by_position(self) -> PositionedRows:
        """Return the rows of memory by position, for what follows it."""
        return PositionedRows(self._db)

    def letters(self, space: str | None = None) -> Iterator[Letter]:
        """Return the letters of a space or of all, oldest first."""
        where, given = ("WHERE space = ?", (space,)) if space else ("", ())
        rows = self._db.execute(f"SELECT body FROM letters {where}", given)  # noqa: S608 - fixed words
        return iter(sorted((LETTER.decode(body) for (body,) in rows), key=oldest_first))

    # where it stands

    def logged(self, space: str | None = None) -> int:
        """Return how many events the log holds, of one space or of all."""
        where, given = ("WHERE space = ?", (space,)) if space else ("", ())
        (count,) = self._db.execute(f"SELECT COUNT(*) FROM log {where}", given).fetchone()  # noqa: S608 - fixed words
        return int(count)

    def newest(self) -> int:
        """Return the offset of the newest event of the log (0: none)."""
        (seq,) = self._db.execute("SELECT COALESCE(MAX(seq), 0) FROM log").fetchone()
        return int(seq)

    def settled(self, space: str) -> bool:
        """Tell whether every event of a space has its outcome; a few lookups, however long the log is."""
        (newest,) = self._db.execute("SELECT MAX(seq) FROM log WHERE space = ?", (space,)).fetchone()
        read = newest is None or newest <= self._finished(FIRST, space)
        return read and self.position(FIRST.name, space) == self.position(LAST.name, space)

    def lag(self, step: AnyStep, space: str) -> int:
        """Return how many records of a space a step has before it now."""
        table, selected, given = input_of(step)
        (count,) = self._db.execute(
            f"SELECT COUNT(*) FROM {table} WHERE {selected} AND space = ? AND seq > ?",  # noqa: S608 - fixed words
            (*given, space, self._finished(step, space)),
        ).fetchone()
        return int(count)

    def total_lag(self, step: AnyStep) -> int:
        """Return how many records of all spaces a step has before it now."""
        return sum(self.lag(step, space) for space in self.pending(step))

    def committed_offset(self, space: str) -> int:
        """Return the offset in the log up to which every event of a space has its outcome."""
        entered, watermark = self.header(FIRST.name, space), self.position(LAST.name, space)
        if watermark == entered.position:
            return entered.offset
        row = self._db.execute(
            "SELECT header FROM records WHERE topic = ? AND space = ? AND position = ?",
            (FIRST.target.name, space, watermark),
        ).fetchone()
        return 0 if row is None else HEADER.decode(row[0]).offset

    def waiting(self, space: str) -> int:
        """Return how many events of a space have no outcome yet; it looks at no others."""
        (count,) = self._db.execute(
            "SELECT COUNT(*) FROM log WHERE space = ? AND seq > ?", (space, self.committed_offset(space))
        ).fetchone()
        return int(count)

    def outcomes(self, space: str, event_id: str) -> Iterator[Row]:
        """Return the outcomes of the events of an id in a space, by position, and perhaps others that hold its text."""
        found = self._db.execute(
            "SELECT body FROM memory WHERE space = ? AND key >= 'outcome ' AND key < 'outcome!' "
            "AND instr(body, ?) > 0 ORDER BY key",
            (space, spelled(event_id).decode()),
        )
        return (_ROW.decode(body.encode()) for (body,) in found)

    def naming(self, space: str, text: str) -> list[Inbound]:
        """Return the events of a space whose bytes hold ``text`` as JSON writes it, in order; all if none does."""
        rows = self._db.execute(
            "SELECT seq, body, own FROM log WHERE space = ? AND instr(body, ?) > 0 ORDER BY seq", (space, spelled(text))
        )
        return list(map(event_of, rows)) or list(self.whole_log(space))

    def _finished(self, step: AnyStep, space: str) -> int:
        row = self._db.execute("SELECT next FROM lanes WHERE stage = ? AND space = ?", (step.name, space)).fetchone()
        return 0 if row is None else int(row[0])
