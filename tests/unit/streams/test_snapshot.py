"""Memory by position, and the topic folded into a file: the last row of a key stands, a tombstone deletes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from schemas.memory import EdgeRow, EdgeType, OutcomeRow, OutcomeState, RecordRow, Row, row_key
from schemas.space import Space
from streams.codec import canonical
from streams.journal import Journal
from streams.snapshot import Fetched, Snapshot
from tests.fakes.index_rows import closed, record
from tests.fakes.real_home import SPACE, RealHome, mixed, story

OTHER = Space("acme/u-2")
FAR = 10**6


def ended(space: Space, position: int) -> OutcomeRow:
    return OutcomeRow(space=space, position=position, event_id=f"t{position}", state=OutcomeState.COMMITTED)


def fetched(*rows: Row) -> list[Fetched]:
    return [Fetched(f"{row.space} {row_key(row)}".encode(), canonical(row).encode()) for row in rows]


def gone(row: Row) -> Fetched:
    return Fetched(f"{row.space} {row_key(row)}".encode(), None)


def told(snapshot: Snapshot, space: Space = SPACE, above: int = -1, up_to: int = FAR) -> list[tuple[int, list[str]]]:
    return [
        (event.header.position, [row_key(row) for row in event.rows]) for event in snapshot.events(space, above, up_to)
    ]


def test_the_last_row_of_a_key_stands_a_tombstone_deletes_and_a_heartbeat_says_nothing(tmp_path: Path) -> None:
    first, second = record(SPACE, 0, "old"), record(SPACE, 1)
    newer = first.model_copy(update={"text": "new"})
    snapshot = Snapshot(tmp_path / "s")
    beat = Fetched(b"heartbeat", b"{}")
    rows = fetched(first, ended(SPACE, 0), second, ended(SPACE, 1), newer)
    snapshot.take(0, [beat, *rows, gone(second)], until=9)
    assert told(snapshot) == [(0, [row_key(first), "outcome 000000000000"]), (1, ["outcome 000000000001"])]
    (event, _) = snapshot.events(SPACE, -1, FAR)
    assert [row.text for row in event.rows if isinstance(row, RecordRow)] == ["new"]
    assert snapshot.rows.records(SPACE, ["turn"], FAR) == 1
    assert snapshot.rows.records(SPACE, ["turn"], -1) == 0
    snapshot.close()


def test_it_gives_all_rows_of_a_space_but_edges(tmp_path: Path) -> None:
    one, other, shut = record(SPACE, 0), record(OTHER, 0), closed(record(SPACE, 0), 1)
    edge = EdgeRow(space=SPACE, source=one.id, target=one.id, type=EdgeType.NEXT, strength=50, since=0)
    snapshot = Snapshot(tmp_path / "s")
    snapshot.take(0, fetched(one, edge, ended(SPACE, 0), other, shut), until=5)
    assert snapshot.of(SPACE) == [shut, ended(SPACE, 0), one]
    assert snapshot.of(OTHER) == [other]
    snapshot.close()


def test_a_closing_of_a_record_that_a_tombstone_took_is_left_out(tmp_path: Path) -> None:
    kept, taken = record(SPACE, 0), record(SPACE, 1)
    snapshot = Snapshot(tmp_path / "s")
    rows: Sequence[Row] = [kept, ended(SPACE, 0), taken, ended(SPACE, 1), closed(kept, 2), closed(taken, 2)]
    snapshot.take(0, [*fetched(*rows, ended(SPACE, 2)), gone(taken)], until=20)
    assert told(snapshot, above=1) == [(2, [f"closed {kept.id}", "outcome 000000000002"])]
    snapshot.close()


def test_it_goes_on_where_it_was_and_says_how_far_each_space_is(tmp_path: Path) -> None:
    snapshot = Snapshot(tmp_path / "s")
    snapshot.take(0, fetched(record(SPACE, 0), ended(SPACE, 0)), until=5)
    snapshot.take(1, fetched(record(OTHER, 0), ended(OTHER, 0)), until=2)
    snapshot.close()
    again = Snapshot(tmp_path / "s")
    assert (again.next(0), again.next(1), again.next(2)) == (5, 2, 0)
    again.take(0, fetched(record(SPACE, 1), ended(SPACE, 1), ended(SPACE, 0)), until=8)  # a late copy lowers nothing
    assert again.reached() == {SPACE: 1, OTHER: 0}
    assert [position for position, _ in told(again, above=0)] == [1]
    again.close()


async def test_a_journal_gives_every_row_once_at_the_position_of_its_event(tmp_path: Path) -> None:
    home = RealHome(tmp_path)
    await home.tell(mixed())
    await home.tell(story(90, OTHER), OTHER)
    with home.journal() as journal:
        rows = journal.by_position()
        rows.prepare()
        for space in (SPACE, OTHER):
            events = list(rows.events(space, -1, FAR))
            assert [event.header.position for event in events] == list(range(journal.remembered()[space] + 1))
            every = [row for event in events for row in event.rows]
            assert sorted(map(row_key, every)) == [row_key(row) for row in journal.rows(space)]
            assert all(isinstance(event.rows[-1], OutcomeRow) for event in events)
            assert [e.header.position for e in rows.events(space, 3, 7)] == [4, 5, 6, 7]
        rows.forget()
        _must_be_plain(journal)


def _must_be_plain(journal: Journal) -> None:
    made = journal.by_position().database.execute("SELECT name FROM sqlite_master WHERE name = 'memory_position'")
    assert made.fetchall() == []
