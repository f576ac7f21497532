"""The states of a partition's spaces: on the local disk while the partition is ours, in the state topic for good.

The topic keeps the last row of a key, which need not be the newest: a worker that was frozen, or is slow across a
rebalance, writes old rows behind new ones. So rows are kept by version until all are read; a state is then the header
of the greatest version with the copies that it names (``streams.state.load``), and where an old row came last the
state is appended again, before compaction can remove what it needs.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from schemas.space import Space
from streams.kafka.wire import HEARTBEAT, NEXT, PAUSE, QUARANTINE, REWIND, Record, read_next, read_pause, read_state_row
from streams.state import HEADER, STATE_HEADER, StateRow, load

_SCHEMA = """
PRAGMA journal_mode=OFF;
PRAGMA synchronous=OFF;
PRAGMA locking_mode=EXCLUSIVE;
CREATE TABLE state (
    space TEXT NOT NULL, part TEXT NOT NULL, slot INTEGER NOT NULL, version INTEGER NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (space, part, slot, version)) WITHOUT ROWID;
"""
_PUT = "INSERT OR REPLACE INTO state VALUES (?, ?, ?, ?, ?)"
_NEWER = "SELECT 1 FROM state WHERE space = ? AND part = ? AND slot = ? AND version > ?"
_OLDER = "DELETE FROM state WHERE space = ? AND part = ? AND slot = ? AND version < ?"
_ALL_OLDER = """
DELETE FROM state WHERE version < (
    SELECT MAX(version) FROM state AS other
    WHERE other.space = state.space AND other.part = state.part AND other.slot = state.slot)
AND space NOT IN (SELECT value FROM json_each(?))
"""


@dataclass
class States:
    """Implements ``StateStore`` for the spaces of one partition of one stage. The file is made anew each time.

    ``next`` is the lowest input offset that is not finished; ``quarantined`` are input offsets that an operator has
    given up; ``rows`` counts what was read, ``end`` is the offset behind it; ``pause`` is the newest word on whether
    the stage is paused.
    """

    path: Path
    next: int = 0
    quarantined: set[int] = field(default_factory=set)
    rows: int = 0
    end: int = 0
    pause: tuple[int, bool] = (0, False)
    _last: dict[str, dict[tuple[str, int], int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.unlink(missing_ok=True)
        self._db = sqlite3.connect(self.path, isolation_level=None)
        self._db.executescript(_SCHEMA)

    async def fill(self, records: AsyncIterator[Record]) -> None:
        """Take over what the state topic holds for the partition."""
        self._db.execute("BEGIN")
        async for record in records:
            self._take(record)
        self._db.execute(_ALL_OLDER, (json.dumps(sorted(self._last)),))
        self._db.execute("COMMIT")

    def _take(self, record: Record) -> None:
        self.rows += 1
        self.end = record.offset + 1
        key, value = record.key or b"", record.value
        if value is None or key == HEARTBEAT:
            return
        if key == NEXT:
            self.next = max(self.next, read_next(value))
        elif key.startswith(QUARANTINE):
            self.quarantined.add(int(key.removeprefix(QUARANTINE)))
        elif key == PAUSE:
            self.pause = max(self.pause, read_pause(value))
        elif key == REWIND:
            self._begin_anew()
        elif (read := read_state_row(key, value)) is not None:
            space, row = read
            if space in self._last or self._db.execute(_NEWER, (space, row.part, row.slot, row.version)).fetchone():
                self._last.setdefault(space, {})[row.part, row.slot] = row.version
            self._db.execute(_PUT, (space, row.part, row.slot, row.version, row.data))

    def _begin_anew(self) -> None:
        """Forget what came before a rewind. What an operator has given up stays so: memory is then the same again."""
        self._db.execute("DELETE FROM state")
        self._last.clear()
        self.next = 0

    def disturbed(self) -> list[tuple[Space, list[StateRow]]]:
        """Return the rows to append again, parts first: those of which another one of their key came last.

        Raises:
            ValueError: if such a state cannot be put together.
        """
        found = [(Space(space), last, self.standing(space)) for space, last in sorted(self._last.items())]
        wrong = [(space, [row for row in rows if _is_covered(row, last)]) for space, last, rows in found]
        return [(space, rows) for space, rows in wrong if rows]

    def standing(self, space: str) -> list[StateRow]:
        """Return just the rows that a space's state consists of, and forget all others."""
        saved = load(self._rows(space))
        named = saved.header.parts.items()
        parts = [StateRow(name, slot, version, saved.parts[name]) for name, (slot, version) in named]
        header = StateRow(HEADER, 0, saved.header.version, STATE_HEADER.encode(saved.header))
        self._db.execute("DELETE FROM state WHERE space = ?", (space,))
        self.put(space, [*parts, header])
        return [*parts, header]

    def _rows(self, space: str) -> list[StateRow]:
        rows = self._db.execute("SELECT part, slot, version, body FROM state WHERE space = ?", (space,))
        return [StateRow(*row) for row in rows]

    def put(self, space: str, rows: Iterable[StateRow]) -> None:
        """Keep rows that the topic has acknowledged, in place of older ones of the same keys.

        In one transaction: a row each is five times as slow, and was a tenth of a worker's time.
        """
        rows = list(rows)
        self._db.execute("BEGIN")
        self._db.executemany(_PUT, [(space, row.part, row.slot, row.version, row.data) for row in rows])
        self._db.executemany(_OLDER, [(space, row.part, row.slot, row.version) for row in rows])
        self._db.execute("COMMIT")

    async def load(self, stage: str, space: Space) -> list[StateRow]:  # noqa: ARG002 - the file is of one stage
        """Return every stored copy of every part of a space's state."""
        return self._rows(space)

    async def version(self, stage: str, space: Space) -> int:  # noqa: ARG002 - as above
        """Return the version of the stored state header (0: none)."""
        found = self._db.execute("SELECT MAX(version) FROM state WHERE space = ? AND part = ''", (space,)).fetchone()
        return found[0] or 0

    def spaces(self) -> int:
        """Return how many spaces have a state here."""
        (count,) = self._db.execute("SELECT COUNT(DISTINCT space) FROM state").fetchone()
        return int(count)

    @property
    def size(self) -> int:
        """Return how many bytes the file takes."""
        return self.path.stat().st_size if self.path.exists() else 0

    def close(self) -> None:
        """Close and remove the file: another assignment reads the topic afresh."""
        self._db.close()
        self.path.unlink(missing_ok=True)


def _is_covered(row: StateRow, last: dict[tuple[str, int], int]) -> bool:
    """Whether the row that came last of a key is another one. Of keys that are not in ``last`` the greatest did."""
    return last.get((row.part, row.slot), row.version) != row.version
