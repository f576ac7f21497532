"""``bench bounds``: its dialogues, what it reads off, and what it says of a broken bound."""

from __future__ import annotations

import io
import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from infra.bench import bounds_run, bounds_talk
from infra.bench.bounds_dialogues import Dialogue, dialogues
from infra.bench.bounds_home import Home, fresh
from infra.bench.bounds_pace import pace_of
from infra.bench.bounds_readings import LIMIT, WRITTEN, Reading, Written, on_disk, resident
from infra.bench.bounds_run import run_bounds
from infra.bench.bounds_tables import holds, verdicts
from infra.memory_api import StageStatus
from infra.models import HashEmbedder
from infra.settings import Settings
from schemas.space import Space
from schemas.turn import Turn
from streams.effects import Cut
from streams.state import StateRow


def told(dialogue: Dialogue, first: int, end: int) -> list[Turn]:
    return [Turn.model_validate_json(event.payload) for event in dialogue.events(first, end)]


@pytest.mark.parametrize(("at", "speakers"), [(0, 2), (1, 2), (2, bounds_talk.SPEAKERS)])
def test_dialogues_made_by_rule_have_their_speakers_topics_and_times(at: int, speakers: int) -> None:
    dialogue = dialogues(2000, None, None, None)[at]
    turns = told(dialogue, 0, 2000)
    assert dialogue.speakers == speakers
    assert len({turn.turn_id for turn in turns}) == 2000
    assert all(before.at < after.at for before, after in pairwise(turns))
    words = Counter(word for turn in turns for word in set(turn.text.split()))
    assert words["Lisbon"] > 10, "topics come back"
    assert len({turn.text for turn in turns}) > 500


def test_what_is_there_is_repeated_with_new_ids_later_times_and_other_texts() -> None:
    dialogue = Dialogue("two", tuple(bounds_talk.two_party(5)), "made by rule")
    first, again = told(dialogue, 0, 5), told(dialogue, 5, 10)
    assert [turn.text for turn in again] == [f"{turn.text} (2)" for turn in first]
    assert not {turn.turn_id for turn in first} & {turn.turn_id for turn in again}
    assert again[0].at > first[-1].at
    assert [turn.space for turn in again] == ["bounds/two"] * 5


def locomo(path: Path) -> Path:
    def sample(name: str, day: int, *speakers: str) -> dict[str, Any]:
        turns = [{"speaker": who, "dia_id": f"D1:{n}", "text": f"hello {n}"} for n, who in enumerate(speakers)]
        return {
            "sample_id": name,
            "conversation": {"session_1_date_time": f"1:56 pm on {day} May, 2023", "session_1": turns},
        }

    path.write_text(json.dumps([sample("a", 8, "Ana", "Bo"), sample("b", 2, "Cid", "Dan", "Cid")]))
    return path


def test_conversations_are_put_one_after_the_other_between_the_same_two(tmp_path: Path) -> None:
    dialogue = dialogues(100, locomo(tmp_path / "l.json"), None, None)[0]
    turns = told(dialogue, 0, 5)
    assert [turn.speaker.id for turn in turns] == ["Ana", "Bo", "Ana", "Bo", "Ana"]
    assert len({turn.turn_id for turn in turns}) == 5
    assert [turn.session for turn in turns] == ["1:1", "1:1", "2:1", "2:1", "2:1"]
    assert turns[2].at > turns[1].at, "an earlier conversation comes later here"
    assert dialogue.source == (
        "LoCoMo, l.json: 5 turns of 2 conversations, one after the other, repeated in order, up to 20 times"
    )


def test_a_channel_keeps_its_people(tmp_path: Path) -> None:
    log = "[10:00] <ana> my sound is gone\n=== ben has joined\n[10:01] <ben> ana: is it muted?\n"
    (tmp_path / "2009-03-03_10.ascii.txt").write_text(log)
    dialogue = dialogues(3, None, None, tmp_path)[2]
    assert [turn.speaker.id for turn in told(dialogue, 0, 3)] == ["ana", "===", "ben"]


def test_a_channel_is_the_beginning_of_every_log(tmp_path: Path) -> None:
    for day in range(1, 6):
        lines = "".join(f"[10:00] <{who}{day}> no sound\n" for who in ("ana", "ben") for _ in range(300))
        (tmp_path / f"2009-03-0{day}_10.ascii.txt").write_text(lines)
    dialogue = dialogues(2250, None, None, tmp_path)[2]
    assert len(dialogue.turns) == 2250
    assert dialogue.speakers == 10
    assert "2250 turns of 5 conversations" in dialogue.source
    assert dialogue.digest != dialogues(2250, None, None, None)[2].digest


def test_what_cuts_write_of_state_is_counted_with_the_header_and_vectors_apart() -> None:
    written = Written()
    for _ in range(2):
        rows = [StateRow("turns-1", 0, 1, b"12345"), StateRow("vectors-1", 0, 1, b"123"), StateRow("", 0, 1, b"12")]
        written.cut(Cut("route", Space("a/b"), state=rows))
    assert (written.plain, written.vectors) == (Counter(route=14), Counter(route=6))


def reading(turns: int, size: int, alone: float) -> Reading:
    stage = StageStatus("route", turns - 1, 0, size, 0)
    return Reading(turns, (stage,), {"route": alone}, {"route": 1.0}, 1.0, 1.0, 1, 1, 1, 0)


def test_a_broken_bound_is_called_so_whichever_reading_shows_it() -> None:
    state, written = verdicts([reading(100, LIMIT, 10), reading(1000, 10, WRITTEN)])
    assert holds([reading(100, LIMIT, 10), reading(1000, 10, WRITTEN)])
    assert state.startswith("holds: the largest state has 65,536 bytes (route at 100 turns")
    assert written.startswith("holds: a turn told alone writes 4,096 bytes at most (route at 1,000 turns")
    state, written = verdicts([reading(100, LIMIT + 1, 10), reading(1000, 10, WRITTEN + 1)])
    assert state.startswith("BROKEN")
    assert written.startswith("BROKEN")
    assert not holds([reading(100, LIMIT + 1, 10)])
    assert not holds([reading(100, 10, WRITTEN + 1), reading(1000, 10, 10)])


def test_files_count_what_they_take_and_a_process_holds_some_memory(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "full").write_bytes(b"x" * 100_000)
    with (tmp_path / "empty").open("wb") as file:
        file.truncate(10_000_000)
    assert 100_000 <= on_disk(tmp_path / "in", tmp_path / "empty") < 200_000
    assert 2**24 < resident() < 2**36


async def test_a_run_reads_off_every_stage_and_times_recalls(tmp_path: Path) -> None:
    shown = io.StringIO()
    settings = Settings(home=tmp_path / "home", embedder="hash")
    told_ = [Dialogue("two-party", tuple(bounds_talk.two_party(60)), "made by rule")]
    assert await run_bounds(settings, told_, 60, Console(file=shown, width=200))
    text = shown.getvalue()
    for stage in ("normalize", "localize_state", "extract_per_view", "route", "commit"):
        row = next(line for line in text.splitlines() if stage in line)
        size, _vectors, alone, bulk = (float(cell.replace(",", "")) for cell in row.split("│")[2:6])
        assert 500 < size < LIMIT
        assert 500 < alone < WRITTEN
        assert 0 < bulk < alone, "turns told together share what they write"
    assert "model hash" in text
    assert text.count("holds:") == 2
    assert "two-party, one space" in text
    assert "6 spaces" in text


def few_slices(patch: pytest.MonkeyPatch) -> None:
    for name, count in (("_SLICES", 2), ("_BULK", 4), ("_ALONE", 1)):
        patch.setattr(f"infra.bench.bounds_pace.{name}", count)


async def test_a_turn_in_a_large_space_is_timed_beside_one_in_a_small_one() -> None:
    shown = io.StringIO()
    told_ = [Dialogue("two-party", tuple(bounds_talk.two_party(300)), "made by rule")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounds_run, "_stops", lambda turns: [10, 20, turns])
        few_slices(patch)
        await run_bounds(Settings(embedder="hash"), told_, 60, Console(file=shown, width=200))
    table = shown.getvalue().partition("told side by side")[2].partition("Recall")[0]
    assert "ms a turn after 20 │ ms a turn after 60 │" in table.replace("┃", "│")
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in table.splitlines() if line.startswith("│")]
    assert [row[0] for row in rows] == ["in bulk", "alone"]
    for _, few, many, ratio, spread in rows:
        assert float(ratio) == pytest.approx(float(many) / float(few), rel=0.05)
        least, most = map(float, spread.split(" to "))
        assert 0 < least <= most


async def test_both_homes_are_told_the_turns_that_come_next_and_who_goes_first_changes() -> None:
    dialogue = Dialogue("two-party", tuple(bounds_talk.two_party(40)), "made by rule")
    told_: list[tuple[int, int]] = []

    class Watched(Home):
        async def tell(self, dialogue: Dialogue, first: int, end: int) -> Written:
            told_.append((first, end))
            return await super().tell(dialogue, first, end)

    settings = Settings(embedder="hash")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("infra.bench.bounds_home.Home", Watched)
        few_slices(patch)
        embedder = HashEmbedder()
        async with fresh(settings, embedder) as old:
            await old.tell(dialogue, 0, 20)
            pace = await pace_of(settings, dialogue, old, 10, embedder)
    assert told_ == [(0, 20), (0, 10), (20, 24), (10, 14), (14, 18), (24, 28), (28, 29), (18, 19), (19, 20), (29, 30)]
    assert (pace.few, pace.many, len(pace.bulk), len(pace.alone)) == (10, 20, 2, 2)
