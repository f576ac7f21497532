from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from infra.bench.paired import paired
from infra.bench.question_sets import Asked
from infra.bench.views_run import first_sessions, recalls_of, run_views
from infra.errors import UsageError
from infra.settings import Settings
from tests.fakes.chat_server import ChatServer
from tests.fakes.plain_model import plain

SHARES = st.sampled_from([0.0, 0.5, 1.0])


@given(st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=20))
def test_the_interval_holds_the_mean_and_turns_with_the_systems(values: list[tuple[float, float]]) -> None:
    first, second = [a for a, _ in values], [b for _, b in values]
    one, other = paired(first, second), paired(second, first)
    assert one.low <= one.mean + 1e-9
    assert one.mean <= one.high + 1e-9
    assert one.mean == pytest.approx(-other.mean)


def test_equal_systems_differ_by_nothing() -> None:
    assert str(paired([0.5, 1.0], [0.5, 1.0])) == "+0.0 [+0.0, +0.0]"


def test_a_clear_difference_does_not_reach_nothing() -> None:
    assert paired([1.0, 1.0, 0.5] * 10, [0.0, 0.5, 0.0] * 10).low > 0


def test_no_questions_no_difference() -> None:
    with pytest.raises(ValueError, match="no question"):
        paired([], [])


def test_a_turn_that_comes_twice_counts_once() -> None:
    asked = Asked("q", "?", "1", ("a", "b"))
    assert recalls_of([asked], [["a"] * 12 + ["b"]]) == [1.0]


def test_questions_that_rest_on_a_later_session_are_left_out(tmp_path: Path) -> None:
    part = first_sessions(conversation(tmp_path), 1)
    assert [question.question for question in part.questions] == ["Who bakes?"]
    assert [json.loads(event.payload)["turn_id"] for event in part.events] == ["D1:1", "D1:2"]


def test_sessions_that_answer_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="take more"):
        first_sessions(conversation(tmp_path, only="D2:1"), 1)


async def test_views_need_a_model(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="ANABRANCH_LANGUAGE_MODEL"):
        await run_views(Settings(home=tmp_path, embedder="hash"), conversation(tmp_path), 1, Console(), None)


async def test_all_variants_answer_the_same_questions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw = tmp_path / "raw.jsonl"
    with ChatServer() as server:
        server.script = plain
        settings = Settings(home=tmp_path, embedder="hash", language_model=server.setting)
        await run_views(settings, conversation(tmp_path), 2, Console(width=120), raw)
    shown = capsys.readouterr().out
    for name in ("rules", "auto", "single", "random"):
        assert f"{name}: published=3 committed=3 lettered=0" in shown
    answers = [json.loads(line) for line in raw.read_text().splitlines()]
    assert len(answers) == 4 * 3
    assert len({(answer["variant"], answer["id"]) for answer in answers}) == len(answers)
    assert "auto less it" in shown


def conversation(folder: Path, only: str | None = None) -> Path:
    """Return a set of our own in LoCoMo's shape: two sessions, a question on each and one on both."""
    asked = [("Who bakes?", ["D1:1"]), ("Who sails?", ["D2:1"]), ("Who does both?", ["D1:1", "D2:1"])]
    sample: dict[str, Any] = {
        "sample_id": "own-1",
        "conversation": {
            "session_1_date_time": "1:00 pm on 1 May, 2023",
            "session_1": [said("D1:1", "Ana", "I bake bread."), said("D1:2", "Bo", "I eat it.")],
            "session_2_date_time": "1:00 pm on 2 May, 2023",
            "session_2": [said("D2:1", "Ana", "I sail now.")],
        },
        "qa": [
            {"question": question, "category": 1, "evidence": [only] if only else evidence, "answer": "Ana"}
            for question, evidence in asked
        ],
    }
    path = folder / "own.json"
    path.write_text(json.dumps([sample]))
    return path


def said(name: str, who: str, text: str) -> dict[str, str]:
    return {"dia_id": name, "speaker": who, "text": text}
