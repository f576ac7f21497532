"""The log and the stages' records in SQLite: what is read as input, and the effects of a cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from schemas.header import Header
from schemas.letter import Letter
from schemas.memory import row_key
from schemas.space import Space
from streams.codec import Codec, canonical, codec
from streams.effects import Cut, Inbound
from streams.tables import Tables
from streams.topology import TURNS, AnyStep

HEADER: Codec[Header] = codec(Header)
LETTER: Codec[Letter] = codec(Letter)

_READ = 1024 * 1024
"""Bytes read at once: 64 lanes hold 64 MB of waiting events at most, whatever the turns are."""


def _within(records: Iterable[Inbound]) -> Iterator[Inbound]:
    """Give records until ``_READ`` bytes are reached, one at least."""
    size = 0
    for record in records:
        yield record
        size += len(record.body)
        if size >= _READ:
            return


def event_of(row: tuple[int, bytes, int]) -> Inbound:
    """Return a row (seq, body, own) of the log as a record."""
    seq, body, own = row
    return Inbound(offset=seq, body=body, own=bool(own))


def _record_of(row: tuple[int, bytes, bytes, int]) -> Inbound:
    seq, body, header, marker = row
    return Inbound(seq, body, HEADER.decode(header), bool(marker))


def input_of(step: AnyStep) -> tuple[str, str, tuple[str, ...]]:
    """Return the table that holds a step's input, a condition that selects it, and what the condition is given."""
    name = step.source.name
    return ("log", "TRUE", ()) if name == TURNS.name else ("records", "topic = ?", (name,))


class Records(Tables):
    """What engines read and write."""

    # the log

    def append(self, space: Space, bodies: Iterable[bytes], *, own: bool = False) -> None:
        """Append events to the log, all or none; they are on the disk when this returns."""
        self.append_all([(space, bodies)], own=own)

    def append_all(self, batches: Iterable[tuple[Space, Iterable[bytes]]], *, own: bool = False) -> None:
        """Append events of several spaces likewise, with one write to the disk for all of them."""
        with self.transaction(synced=True):
            self._db.executemany(
                "INSERT INTO log (space, own, body) VALUES (?, ?, ?)",
                [(space, own, body) for space, bodies in batches for body in bodies],
            )

    def read_records(self, topic: str, space: str, after: int, limit: int) -> list[Inbound]:
        """Return up to ``limit`` records of a space whose offsets in the topic are above ``after``."""
        if topic == TURNS.name:
            events = self._db.execute(
                "SELECT seq, body, own FROM log WHERE space = ? AND seq > ? ORDER BY seq LIMIT ?", (space, after, limit)
            )
            return list(_within(map(event_of, events)))
        records = self._db.execute(
            "SELECT seq, body, header, marker FROM records WHERE topic = ? AND space = ? AND seq > ? "
            "ORDER BY seq LIMIT ?",
            (topic, space, after, limit),
        )
        return list(_within(map(_record_of, records)))

    def whole_log(self, space: str) -> Iterator[Inbound]:
        """Give every event of a space, in order."""
        rows = self._db.execute("SELECT seq, body, own FROM log WHERE space = ? ORDER BY seq", (space,))
        return map(event_of, rows)

    def spaces(self) -> list[Space]:
        """Return every space that the log knows, in order."""
        return [Space(space) for (space,) in self._db.execute("SELECT DISTINCT space FROM log ORDER BY space")]

    def pending(self, step: AnyStep) -> list[Space]:
        """Return the spaces that have input beyond what a step has finished."""
        table, selected, given = input_of(step)
        rows = self._db.execute(
            f"SELECT newest.space FROM (SELECT space, MAX(seq) AS seq FROM {table} WHERE {selected} GROUP BY space) "  # noqa: S608 - fixed words
            "AS newest LEFT JOIN lanes ON lanes.stage = ? AND lanes.space = newest.space "
            "WHERE newest.seq > COALESCE(lanes.next, 0)",
            (*given, step.name),
        )
        return [Space(space) for (space,) in rows]

    # effects

    def write_records(self, topic: str, cut: Cut) -> None:
        """Append a cut's outputs; those already there stay as they are."""
        self._db.executemany(
            "INSERT OR IGNORE INTO records (topic, space, position, marker, header, body) VALUES (?, ?, ?, ?, ?, ?)",
            [
                (topic, cut.space, out.header.position, out.marker, HEADER.encode(out.header), out.body)
                for out in cut.outputs
            ],
        )

    def write_memory(self, cut: Cut) -> None:
        """Add a cut's memory rows; those already there stay as they are."""
        self._db.executemany(
            "INSERT OR IGNORE INTO memory VALUES (?, ?, ?)",
            [(cut.space, row_key(row), canonical(row)) for event in cut.committed for row in event.rows],
        )

    def write_letters(self, cut: Cut) -> None:
        """Add a cut's letters; those already there stay as they are."""
        self._db.executemany(
            "INSERT OR IGNORE INTO letters VALUES (?, ?, ?)",
            [(letter.letter_id, letter.space, LETTER.encode(letter)) for letter in cut.letters],
        )

    def write_state(self, cut: Cut) -> None:
        """Write a cut's changed parts, then the state header."""
        self._db.executemany(
            "INSERT OR REPLACE INTO state VALUES (?, ?, ?, ?, ?, ?)",
            [(cut.stage, cut.space, row.part, row.slot, row.version, row.data) for row in cut.state],
        )

    def write_offset(self, cut: Cut) -> None:
        """Note that the lane's input is finished up to the cut's offset."""
        self._db.execute(
            "INSERT OR REPLACE INTO lanes VALUES (?, ?, ?, ?)",
            (cut.stage, cut.space, cut.header.offset, cut.header.position),
        )

    def prune(self, topics: Sequence[str], space: str, below: int) -> None:
        """Remove stage records that every stage has finished; the log and memory keep what they say."""
        self._db.executemany(
            "DELETE FROM records WHERE topic = ? AND space = ? AND position < ?",
            [(topic, space, below) for topic in topics],
        )
