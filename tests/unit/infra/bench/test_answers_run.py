"""``bench answers`` on talks of our own: the same model and prompt for all, trivial baselines where expected."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from infra.bench import gpu_run
from infra.bench.answering_memory import each
from infra.bench.answering_systems import BEST_HIT, FULL, MEMORY, NEVER, RECENT
from infra.bench.answers_run import Row, Wanted, run_answers, run_first_answers
from infra.bench.choices_run import ALWAYS_A, run_choices
from infra.bench.gpu_run import Wanted as Gpu
from infra.errors import UsageError
from infra.settings import Settings
from stages.contract import Unavailable
from tests.fakes.chat_server import Asked, ChatServer, Reply, said, status
from tests.fakes.plain_model import plain

FILLER = [("Ana", f"The weather was fine on walk number {n}.") for n in range(30)]
TALK = {
    "sample_id": "x",
    "conversation": {
        "session_1_date_time": "9:05 am on 3 March, 2023",
        "session_1": [
            {"speaker": "Bo", "dia_id": "D1:1", "text": "I bought a red bicycle in Utrecht."},
            *({"speaker": who, "dia_id": f"D1:{n}", "text": text} for n, (who, text) in enumerate(FILLER, 2)),
        ],
    },
    "qa": [
        {"question": "Which bicycle did Bo buy?", "answer": "a red bicycle", "evidence": ["D1:1"], "category": 4},
        {"question": "Which boat did Bo buy?", "adversarial_answer": "red", "evidence": ["D1:1"], "category": 5},
    ],
}


def bicycle(called: Asked) -> Reply:
    """Answer from what is shown and from nothing else: the bicycle, if a piece tells of it."""
    shown = json.loads(called.user.partition("\n")[0])
    pieces = [piece["n"] for piece in shown.get("evidence", ()) if "bicycle" in piece["text"]]
    found = bool(pieces) and "boat" not in shown["question"]
    answers: dict[str, object] = {
        "answer_plan": {"queries": []},
        "answer_integrate": {"summary": "", "sources": pieces[:1], "enough": True, "follow_ups": []},
        "answer_reply": {
            "found": found,
            "cites": pieces[:1],
            "answer": "red bicycle" if found else "",
            "inferred": False,
            "confidence": "high",
        },
        "bench_judge": {"reason": "", "verdict": "CORRECT" if "bicycle" in shown.get("answer", "") else "WRONG"},
    }
    return said(json.dumps(answers[called.name]))


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with ChatServer(bicycle) as one:
        yield one


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    path = tmp_path / "set"
    path.mkdir()
    (path / "talk.json").write_text(json.dumps([TALK]))
    return path


def settings(tmp_path: Path, **more: Any) -> Settings:
    return Settings(home=tmp_path / "home", embedder="hash", **more)


def table(rows: list[Row]) -> dict[str, list[float]]:
    """Return F1 of each question, by system."""
    return {
        name: [row.answered.f1 for row in rows if row.answered.system == name]
        for name in dict.fromkeys(row.answered.system for row in rows)
    }


async def test_systems_are_scored_by_what_they_were_shown(tmp_path: Path, talk: Path, server: ChatServer) -> None:
    console, out = Console(record=True, width=200), tmp_path / "raw.jsonl"
    wanted = Wanted(talk, out, judge=True, by_rules=True)
    rows = await run_answers(settings(tmp_path, language_model=server.setting), wanted, console)
    f1 = table(rows)
    assert (f1[MEMORY], f1[FULL]) == ([1.0, 1.0], [1.0, 1.0])
    assert f1[RECENT] == [0.0, 1.0], "the last twenty turns know of no bicycle"
    assert f1[NEVER] == [0.0, 1.0]
    assert 0 < f1[BEST_HIT][0] < 1
    printed = console.export_text()
    assert "recent turns: not_in_memory 2" in printed
    assert len(re.findall(r"answer\.(?:plan|integrate|reply)\.v1 sha256 [0-9a-f]{16}", printed)) == 3
    assert "judge scripted   prompt bench.judge.v1" in printed
    assert "published=31 committed=31" in printed
    raw = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(raw) == len(rows) == 10
    (ours,) = [one for one in raw if one["system"] == MEMORY and one["gold"]["category"] == 4]
    assert ours["said"]["citations"][0]["turn_ids"] == ["D1:1"]
    assert (ours["judged"], ours["said"]["trace"][0]["step"]) == (1.0, "search")


async def test_without_a_model_nothing_false_is_scored(tmp_path: Path, talk: Path) -> None:
    console = Console(record=True, width=200)
    rows = await run_answers(settings(tmp_path), Wanted(talk), console)
    assert table(rows).keys() == {BEST_HIT, NEVER}
    assert "memory gives evidence and no answers, and none is scored" in console.export_text()


async def test_what_no_longer_fits_is_the_oldest(tmp_path: Path, talk: Path, server: ChatServer) -> None:
    narrow = settings(tmp_path, language_model=server.setting, model_context=2200)
    rows = await run_answers(narrow, Wanted(talk, by_rules=True, most=1), Console(record=True))
    (full,) = [row for row in rows if row.answered.system == FULL]
    assert (full.said.raw["whole"], full.answered.f1) == (False, 0.0)
    assert 0 < full.said.raw["turns"] < 31
    assert full.said.reason == "not_in_memory"


async def test_turns_that_cost_more_than_was_thought_are_left_out_until_it_can_be_asked(
    tmp_path: Path, server: ChatServer
) -> None:
    """Each quotation mark is two in a request."""
    said = [{"speaker": "Bo", "dia_id": f"D1:{n}", "text": '"Yes" "no" ' * 9} for n in range(1, 60)]
    talk = TALK | {"conversation": {"session_1_date_time": "9:05 am on 3 March, 2023", "session_1": said}}
    (tmp_path / "talk.json").write_text(json.dumps([talk]))
    narrow = settings(tmp_path, language_model=server.setting, model_context=4096)
    wanted = Wanted(tmp_path / "talk.json", by_rules=True, most=1)
    rows = await run_answers(narrow, wanted, Console(record=True))
    (full,) = [row for row in rows if row.answered.system == FULL]
    assert (full.said.reason, full.said.raw["whole"]) == ("not_in_memory", False)


async def test_the_first_sessions_alone(tmp_path: Path, talk: Path, server: ChatServer) -> None:
    named = settings(tmp_path, language_model=server.setting)
    rows = await run_first_answers(named, Wanted(talk, by_rules=True), 1, Console(record=True))
    assert {row.answered.gold.category for row in rows} == {4}
    assert table(rows)[MEMORY] == [1.0]


async def test_a_gpu_measures_views_nights_and_answers_side_by_side(tmp_path: Path, talk: Path) -> None:
    """The dry way: what is asked of a GPU is asked of the model that the settings name."""
    console, raw = Console(record=True, width=200), tmp_path / "raw.jsonl"
    wanted = Gpu(talk, "a model", 1, dry=True, raw=raw)
    with ChatServer(lambda called: bicycle(called) if called.name.startswith("answer") else plain(called)) as server:
        assert await gpu_run.run_gpu(settings(tmp_path, language_model=server.setting), wanted, console)
    printed = console.export_text()
    assert printed.index("All records") < printed.index("after a night") < printed.index("LoCoMo: answers")
    assert f"{FULL}" in printed.partition("LoCoMo: answers")[2]
    assert "kept: a second night decided 0 more" in printed
    nights = [json.loads(line) for line in (tmp_path / "raw.jsonl.nights").read_text().splitlines()]
    assert [one["stand"] for one in nights] == ["before", "after a night", "taken back"]
    assert {one["question"] for one in nights} == {"Which bicycle did Bo buy?"}
    assert (tmp_path / "raw.jsonl.answers").exists()


async def test_where_a_part_on_a_gpu_fails_the_others_are_printed_and_it_says_why(tmp_path: Path, talk: Path) -> None:
    console = Console(record=True, width=200)

    def answering_nothing(called: Asked) -> Reply:
        return status(401) if called.name.startswith("answer") else plain(called)

    with ChatServer(answering_nothing) as server:
        named = settings(tmp_path, language_model=server.setting)
        with pytest.raises(Unavailable, match="401"):
            await gpu_run._measure(named, Gpu(talk, "a model", 1, dry=True), console)
    assert "after a night" in console.export_text()


async def test_a_gpu_says_that_a_night_broke_a_promise(
    tmp_path: Path, talk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> bool:
        return False

    monkeypatch.setattr(gpu_run, "run_first_nights", broken)
    with ChatServer(lambda called: bicycle(called) if called.name.startswith("answer") else plain(called)) as server:
        named = settings(tmp_path, language_model=server.setting)
        assert not await gpu_run._measure(named, Gpu(talk, "a model", 1, dry=True), Console(record=True))


HEAD = "question_id,question_type,user_question_or_message,correct_answer,all_options,shared_context_id,"
OPTIONS = "(a) a boat (b) a bicycle (c) a car (d) a horse"


@pytest.fixture
def choices(tmp_path: Path) -> Path:
    path = tmp_path / "choices"
    path.mkdir()
    rows = [("q1", "late", "(b)", 3), ("q2", "early", "(b)", 1), ("q3", "early", "(a)", 0)]
    lines = [f'{name},{kind},"What now?",{right},"{OPTIONS}",c1,{end}' for name, kind, right, end in rows]
    (path / "questions.csv").write_text("\n".join([f"{HEAD}end_index_in_shared_context", *lines]) + "\n")
    texts = ["I am bored.", "Then ride.", "I bought a bicycle."]
    told = [{"role": role, "content": text} for role, text in zip(("user", "assistant", "user"), texts, strict=True)]
    (path / "contexts.jsonl").write_text(json.dumps({"c1": told}) + "\n")
    return path


def rides(called: Asked) -> Reply:
    """Choose the bicycle if a piece tells of it; else the first."""
    shown = json.loads(called.user.partition("\n")[0])
    pieces = [piece["n"] for piece in shown.get("evidence", ())]
    knows = any("bicycle" in piece["text"] for piece in shown.get("evidence", ()))
    reply = {"answer": f"<final_answer>({'b' if knows else 'a'})", "cites": pieces[:1], "found": True}
    answers: dict[str, object] = {
        "answer_plan": {"queries": []},
        "answer_integrate": {"summary": "", "sources": [], "enough": True, "follow_ups": []},
        "answer_reply": reply | {"inferred": False, "confidence": "low"},
    }
    return said(json.dumps(answers[called.name]))


async def test_choices_are_made_as_of_their_point(tmp_path: Path, choices: Path) -> None:
    console, out = Console(record=True, width=200), tmp_path / "raw.jsonl"
    with ChatServer(rides) as server:
        named = settings(tmp_path, language_model=server.setting)
        await run_choices(named, choices, console, out, by_rules=True)
    raw = {(one["system"], one["id"]): one for one in map(json.loads, out.read_text().splitlines())}
    assert [raw[MEMORY, name]["as_of"] for name in ("q1", "q2", "q3")] == [2, 0, -1]
    assert [raw[MEMORY, name]["score"] for name in ("q1", "q2", "q3")] == [1.0, 0.0, 0.0]
    assert [raw[FULL, name]["score"] for name in ("q1", "q2")] == [1.0, 0.0]
    assert [raw[ALWAYS_A, name]["score"] for name in ("q1", "q2", "q3")] == [0.0, 0.0, 1.0]
    assert "published=3 committed=3" in console.export_text(), "one conversation is written once"


async def test_choices_without_a_model(tmp_path: Path, choices: Path) -> None:
    console = Console(record=True, width=200)
    await run_choices(settings(tmp_path), choices, console)
    printed = console.export_text()
    assert "none is scored" in printed
    assert "always (a)" in printed
    assert MEMORY not in printed.partition("PersonaMem")[2]
    (choices / "more.csv").write_text("")
    with pytest.raises(UsageError, match=r"one \.csv"):
        await run_choices(settings(tmp_path), choices, console)


async def test_so_many_at_once_and_in_order() -> None:
    running, most = 0, 0

    async def work(n: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return -n

    assert await each(list(range(9)), work, 3) == [-n for n in range(9)]
    assert most == 3
