"""What can be asked of a home's journal: where it stands, what is pending, which events name a turn."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from schemas.space import Space
from streams.effects import Cut
from streams.journal import Journal
from streams.state import StateHeader
from streams.stopped import WrongHome
from streams.topology import FIRST, LAST
from tests.fakes.runtime import Home, event

SPACE, OTHER = Space("acme/u-1"), Space("acme/u-2")


async def told(path: Path, *, run: bool) -> Journal:
    """Return the journal of a home with three events of one space and one of another."""
    home = Home(path / "log.sqlite")
    home.publish(SPACE, event(SPACE, "a", "caf\u00e9"), event(SPACE, "a", "caf\u00e9"), event(SPACE, "b", " "))
    home.publish(OTHER, event(OTHER, "c"))
    if run:
        await home.run()
    return Journal(home.path)


async def test_before_a_run_everything_is_pending(tmp_path: Path) -> None:
    journal = await told(tmp_path, run=False)
    assert (journal.logged(), journal.logged(SPACE), journal.logged("acme/u-9")) == (4, 3, 0)
    assert journal.spaces() == [SPACE, OTHER]
    assert (journal.lag(FIRST, SPACE), journal.lag(FIRST, OTHER), journal.total_lag(FIRST)) == (3, 1, 4)
    assert journal.total_lag(LAST) == 0
    assert not journal.settled(SPACE)
    assert journal.settled("acme/u-9")
    assert (journal.version("normalize", SPACE), journal.position("commit", SPACE)) == (0, -1)
    assert (journal.committed_offset(SPACE), journal.remembered()) == (-1, {})


async def test_after_a_run_nothing_is_pending(tmp_path: Path) -> None:
    journal = await told(tmp_path, run=True)
    assert [journal.total_lag(step) for step in (FIRST, LAST)] == [0, 0]
    assert journal.settled(SPACE)
    assert journal.remembered() == {SPACE: 1, OTHER: 0}
    assert (journal.committed_offset(SPACE), journal.committed_offset(OTHER)) == (3, 4)
    assert journal.version("normalize", SPACE) >= 1
    assert [letter.turn_id for letter in journal.letters(SPACE)] == ["b"]
    assert list(journal.letters(OTHER)) == []


async def test_between_the_stages_an_event_is_logged_and_not_committed(tmp_path: Path) -> None:
    journal = await told(tmp_path, run=True)
    journal.append(SPACE, [event(SPACE, "d")])
    assert not journal.settled(SPACE)
    assert journal.settled(OTHER)
    assert journal.lag(FIRST, SPACE) == 1
    assert journal.committed_offset(SPACE) == 3


async def test_where_commit_is_behind_only_what_it_finished_counts(tmp_path: Path) -> None:
    journal = await told(tmp_path, run=True)
    behind = Cut(LAST.name, SPACE, header=StateHeader(position=0, offset=1))
    with journal.transaction():
        journal.write_offset(behind)
    assert (journal.position(FIRST.name, SPACE), journal.position(LAST.name, SPACE)) == (1, 0)
    assert journal.committed_offset(SPACE) == 1
    assert not journal.settled(SPACE)


async def test_rows_are_read_by_what_their_keys_begin_with(tmp_path: Path) -> None:
    journal = await told(tmp_path, run=True)
    everything = [row.row for row in journal.rows(SPACE)]
    assert len(everything) == len(list(journal.memory(SPACE)))
    assert [row.row for row in journal.rows(SPACE, "outcome")] == ["outcome", "outcome"]
    assert list(journal.rows(SPACE, "zzz")) == []


async def test_the_events_that_name_a_turn_are_found_by_their_bytes(tmp_path: Path) -> None:
    journal = await told(tmp_path, run=False)
    journal.append(SPACE, ['{"turn_id": "caf\u00e9"}'.encode()])
    assert [found.offset for found in journal.naming(SPACE, "b")] == [3]
    assert [found.offset for found in journal.naming(SPACE, "caf\u00e9")] == [5]
    assert [found.offset for found in journal.naming(SPACE, "nobody")] == [1, 2, 3, 5]


async def test_crashes_are_counted_by_stage_space_and_record(tmp_path: Path) -> None:
    journal = await told(tmp_path, run=False)
    assert [journal.crashes.add("route", SPACE, 7, f"time {n}") for n in (1, 2)] == [1, 2]
    assert journal.crashes.add("route", SPACE, 8, "another") == 1
    journal.close()
    again = Journal(journal.path)
    assert (again.crashes.count("route", SPACE, 7), again.crashes.report("route", SPACE, 7)) == (2, "time 2")
    assert (again.crashes.count("commit", SPACE, 7), again.crashes.report("commit", SPACE, 7)) == (0, "")


def test_a_file_that_is_no_database_is_refused_with_a_way_out(tmp_path: Path) -> None:
    path = tmp_path / "log.sqlite"
    path.write_bytes(b"these are the notes of a gardener, and no database at all" * 20)
    with pytest.raises(WrongHome, match=r"cannot be used .*; restore it from a backup"):
        Journal(path)


def test_a_folder_in_place_of_the_file_is_a_fault_of_the_disk(tmp_path: Path) -> None:
    (tmp_path / "log.sqlite").mkdir()
    with pytest.raises(sqlite3.OperationalError):
        Journal(tmp_path / "log.sqlite")


def test_what_a_home_was_begun_with_is_kept(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "log.sqlite")
    journal.pin("model", "words@1", "take another home")
    journal.pin("model", "words@1", "take another home")
    with pytest.raises(WrongHome, match="has model 'words@1', but 'other@2' is asked for; take another home"):
        journal.pin("model", "other@2", "take another home")


def test_a_transaction_that_fails_writes_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "log.sqlite")

    def torn() -> None:
        with journal.transaction():
            journal.write_offset(Cut(LAST.name, SPACE, header=StateHeader(position=3, offset=4)))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        torn()
    assert journal.position(LAST.name, SPACE) == -1
    journal.append(SPACE, [b"one"])
    assert journal.logged() == 1
