"""Elsewhere: "yesterday" is taken from the processing time or a fixed zone; late events move what is newer."""

from __future__ import annotations

import subprocess
from datetime import datetime
from pathlib import Path

import pytest

from infra.cli.turn_records import times
from schemas.memory import RecordKind
from tests.faults.user import SPACE, chatter, child, cited, cli, jsonl, opened, printed, records, retired, tell, turn

SAID = [
    ("just past midnight", "2026-03-01T00:30:00+01:00", "yesterday", "2026-02-28T00:00:00+01:00"),
    ("the same instant in London", "2026-02-28T23:30:00+00:00", "yesterday", "2026-02-27T00:00:00Z"),
    ("the night the clocks go forward", "2026-03-28T22:00:00+01:00", "tomorrow", "2026-03-29T00:00:00+01:00"),
    ("the morning after", "2026-03-29T10:00:00+02:00", "yesterday", "2026-03-28T00:00:00+02:00"),
    ("the hour that comes twice", "2026-10-25T02:30:00+01:00", "an hour ago", "2026-10-25T01:00:00+01:00"),
    ("east of everybody", "2026-01-01T00:15:00+13:45", "last year", "2025-01-01T00:00:00+13:45"),
    ("west of everybody", "2031-12-31T23:59:00-11:00", "tomorrow", "2032-01-01T00:00:00-11:00"),
    ("years before it is processed", "2019-07-04T12:00:00-09:30", "today", "2019-07-04T00:00:00-09:30"),
    ("on a leap day", "2024-02-29T12:00:00+05:30", "next year", "2025-01-01T00:00:00+05:30"),
]
LOG = [turn(f"t{n}", f"Something happened {phrase}.", at=at) for n, (_, at, phrase, _) in enumerate(SAID)]

FAR_AWAY = """
import datetime, sys, time

class Kind(type):
    def __instancecheck__(cls, one):
        return isinstance(one, real)

real = datetime.datetime

class Later(real, metaclass=Kind):
    "A clock fifteen years on, in a process of another zone."
    @classmethod
    def now(cls, tz=None):
        return real(2041, 6, 5, 4, 3, 2, tzinfo=tz)
    utcnow = today = now

datetime.datetime, time.time = Later, lambda: 2254100000.0
from infra.cli import main
sys.argv[1:] = ["ingest", ARGUMENTS, "--format", "jsonl"]
main()
"""


async def test_fault_05_a_phrase_is_read_by_the_clock_and_the_zone_of_its_turn(home: Path) -> None:
    async with opened(home) as memory:
        await tell(memory, *LOG)
        found = {one["turn_id"]: (one["phrase"], one["start"]) for one in times(memory.rows(SPACE))}
    assert found == {f"t{n}": (phrase, start) for n, (_, _, phrase, start) in enumerate(SAID)}


def test_fault_05_a_replay_long_after_in_another_zone_gives_the_same_dates(
    home: Path, second: Path, tmp_path: Path
) -> None:
    path = jsonl(tmp_path / "log.jsonl", LOG)
    assert cli(home, "ingest", path, "--format", "jsonl").exit_code == 0
    later = child(second, FAR_AWAY.replace("ARGUMENTS", repr(path)))
    later["env"] |= {"TZ": "Pacific/Kiritimati", "LC_ALL": "C"}
    assert subprocess.run(**later, capture_output=True, check=True).stdout.startswith("published=9 committed=9")
    there, here = (printed(one, "records", "--space", SPACE) for one in (second, home))
    assert there == here
    assert printed(second, "times", "--space", SPACE)[0]["start"] == SAID[0][-1]


async def test_fault_05_the_phrase_and_the_interval_are_both_kept(home: Path) -> None:
    async with opened(home) as memory:
        await tell(memory, turn("m1", "Elin moved to Bergen yesterday."))
        (item,) = records(memory, RecordKind.EVENT, RecordKind.FACT, RecordKind.ATTRIBUTE)
        assert "yesterday (2026-02-28)" in item.text
        assert item.interval is not None
        assert item.interval.start.isoformat() == "2026-02-28T00:00:00+01:00"


async def test_fault_05_a_question_counts_from_the_time_at_which_it_is_asked(home: Path) -> None:
    spring, autumn = (f"I ran in the park on the {day}." for day in ("3rd of March", "9th of October"))
    async with opened(home) as memory:
        await tell(memory, turn("spring", spring, day=4), turn("autumn", autumn, day=230))
        for asked_at, first in (("2026-04-02T12:00:00+02:00", "spring"), ("2026-11-02T12:00:00+01:00", "autumn")):
            at = datetime.fromisoformat(asked_at)
            assert (await cited(memory, "When did I run last month?", asker="mia", asked_at=at))[0] == first


async def test_fault_19_turns_that_come_late_keep_their_place_in_the_log_and_their_own_dates(home: Path) -> None:
    late = [
        turn("now", "I saw the doctor yesterday.", at="2026-03-10T12:00:00+01:00"),
        turn("old", "I saw the dentist yesterday.", at="2021-05-02T12:00:00+02:00"),
        turn("ahead", "I see the optician tomorrow.", at="2030-01-31T12:00:00Z"),
        turn("then", "I saw the barber yesterday.", at="2026-03-01T12:00:00+01:00"),
    ]
    async with opened(home) as memory:
        await tell(memory, *late)
        assert [(turn.turn_id, turn.position) for turn in memory.turns(SPACE)] == [
            ("now", 0), ("old", 1), ("ahead", 2), ("then", 3)
        ]  # fmt: skip
        starts = [one["start"][:10] for one in times(memory.rows(SPACE))]
        assert starts == ["2026-03-09", "2021-05-01", "2030-02-01", "2026-02-28"]


@pytest.mark.parametrize(
    ("first", "then", "gone"),
    [
        (("I live in Berlin.", 0), ("I live in Oslo.", -700), []),
        (("I live in Oslo.", -700), ("I live in Berlin.", 0), ["Mia lives in Oslo."]),
    ],
    ids=["what is late retires nothing newer", "what is newer retires what is older"],
)
async def test_fault_19_event_time_decides_what_is_superseded(
    home: Path, first: tuple[str, float], then: tuple[str, float], gone: list[str]
) -> None:
    async with opened(home) as memory:
        await tell(memory, turn("one", first[0], day=first[1]), turn("two", then[0], day=then[1]), *chatter(22))
        assert [old for old, _ in retired(memory)] == gone


def test_fault_05_times_are_printed_in_the_zone_of_the_turn(home: Path, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "log.jsonl", LOG[:1])
    cli(home, "ingest", path, "--format", "jsonl")
    (shown,) = printed(home, "times", "--space", SPACE)
    assert (shown["start"], shown["end"], shown["grain"]) == (
        "2026-02-28T00:00:00+01:00", "2026-03-01T00:00:00+01:00", "day"
    )  # fmt: skip
