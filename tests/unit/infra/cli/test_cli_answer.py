"""``answer``: a line a question, what an answer rests on, the steps, and what is said where there is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from infra.answering import Answering
from infra.cli.answered import show_answer
from schemas.answer import Answer, Reason, Research, Used
from stages.contract import Unavailable
from tests.fakes.agents import AWAY, NOT_FOUND, Agents, notes, reply
from tests.fakes.command import SPACE, Cli, jsonl, line, objects
from tests.fakes.memory import FakeMemory
from tests.fakes.searching import hit

FIELDS = {
    *("id", "answer", "reason", "confidence", "inferred", "citations", "evidence", "research", "stale", "behind"),
    *("took_ms", "used"),
}


def says(memory: FakeMemory, agents: Agents) -> None:
    """Give a memory a language model."""
    memory.answering = Answering(agents.model)


def test_a_line_a_question_with_what_the_answer_rests_on(filled: Cli, memory: FakeMemory, tmp_path: Path) -> None:
    says(memory, Agents(reply=[reply("under the fridge", 1)]))
    path = jsonl(tmp_path / "q.jsonl", {"id": 7, "question": "What about the kitchen floor?"},
                 {"id": "b", "question": "bicycle", "asker": "mia", "asked_at": "2026-04-01T00:00:00Z"})  # fmt: skip
    first, second = objects(filled("answer", "--space", SPACE, "--questions", str(path), "--json"))
    assert set(first) == FIELDS
    assert (first["id"], first["answer"], first["reason"]) == (7, "under the fridge", None)
    assert set(first["citations"][0]) == {"turn_ids", "record_id", "kind", "speaker", "at", "text"}
    assert [one["citations"][0]["turn_ids"] for one in (first, second)] == [["t1"], ["t2"]]
    assert set(first["used"]) == {"searches", "requests", "rounds", "tokens", "refused", "withheld", "unshown"}


def test_the_steps_are_shown_where_they_are_asked_for(filled: Cli, memory: FakeMemory) -> None:
    says(memory, Agents(integrate=[notes("It gave way.", [1], "the bicycle"), notes("It gave way.", [1])]))
    given = "answer", "--space", SPACE, "--question", "kitchen", "--trace"
    (told,) = objects(filled(*given, "--json"))
    assert [step["step"] for step in told["trace"]] == ["search", "plan", "integrate", "search", "integrate", "answer"]
    says(memory, Agents(integrate=[notes("It gave way.", [1], "the bicycle"), notes("It gave way.", [1])]))
    shown = filled(*given).stdout
    assert "integrate: not enough [answer.integrate.v1]" in shown
    assert "? the bicycle" in shown


def test_for_people_it_is_prose_with_time_speaker_and_text(filled: Cli, memory: FakeMemory) -> None:
    says(memory, Agents(reply=[reply("it gave way", 1, inferred=True)]))
    result = filled("answer", "--space", SPACE, "--question", "kitchen floor")
    assert result.exit_code == 0
    assert "it gave way   (medium confidence, inferred)" in result.stdout
    assert "t1 Mia, 2026-03-01 18:01 +0100: The kitchen floor gave way under the fridge." in result.stdout
    assert "research ended: enough" in result.stdout
    assert "\x1b" not in result.stdout


@pytest.mark.parametrize(
    ("agents", "reason", "told"),
    [
        (None, "no_model", "no language model is named"),
        (Agents(reply=[NOT_FOUND]), "not_in_memory", "What comes nearest:"),
        (Agents(reply=[reply("Rome", 9)]), "model_unusable", "is of no use"),
        (Agents(plan=[AWAY]), "model_unavailable", "does not answer"),
    ],
    ids=["none", "not there", "invented", "away"],
)
def test_where_there_is_no_answer_the_evidence_and_why(
    agents: Agents | None, reason: str, told: str, filled: Cli, memory: FakeMemory
) -> None:
    if agents is not None:
        says(memory, agents)
    given = "answer", "--space", SPACE, "--question", "kitchen floor"
    (answer,) = objects(filled(*given, "--json"))
    assert (answer["answer"], answer["reason"], answer["citations"]) == (None, reason, [])
    assert answer["evidence"][0]["turn_ids"] == ["t1"]
    if agents is not None:
        says(memory, agents)
    shown = filled(*given)
    assert shown.exit_code == 0
    assert told in shown.stdout
    assert "The kitchen floor gave way" in shown.stdout


def test_what_it_may_cost_is_said(filled: Cli, memory: FakeMemory) -> None:
    says(memory, Agents())
    given = "answer", "--space", SPACE, "--question", "kitchen floor", "--json"
    (none,) = objects(filled(*given, "--requests", "0"))
    (one,) = objects(filled(*given, "--requests", "1", "--budget", "200", "--seconds", "5"))
    assert (none["reason"], none["used"]["requests"]) == ("out_of_requests", 0)
    assert (one["answer"], one["used"]["requests"], one["research"]) == ("yes", 1, "requests")
    assert filled(*given, "--budget", "1").exit_code == 2
    assert filled("answer", "--space", SPACE).exit_code == 2


def test_as_of_and_no_wait_are_those_of_recall(filled: Cli, memory: FakeMemory) -> None:
    given = "answer", "--space", SPACE, "--question", "floor", "--json"
    (before,) = objects(filled(*given, "--as-of", "turn:t1"))
    assert [hit["turn_ids"] for hit in before["evidence"]] == [["t1"]]
    memory.log.append((SPACE, json.dumps(line("t4", "more floor")).encode()))
    (stale,) = objects(filled(*given, "--no-wait"))
    assert (stale["stale"], stale["behind"]) == (True, 1)
    assert "stale: 1 event is not in memory yet" in filled(*given[:-1], "--no-wait").stdout


def test_an_index_that_is_away_is_told(filled: Cli, memory: FakeMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> object:
        msg = "the index is gone"
        raise Unavailable(msg)

    monkeypatch.setattr(memory, "recall", away)
    result = filled("answer", "--space", SPACE, "--question", "floor")
    assert result.exit_code == 3
    assert "the index is gone" in result.stderr


def test_what_the_model_invented_and_what_had_no_room_is_told(filled: Cli, memory: FakeMemory) -> None:
    says(memory, Agents(reply=[reply("yes", 99), reply("yes", 1)]))
    shown = filled("answer", "--space", SPACE, "--question", "kitchen floor")
    assert "yes   (high confidence)" in shown.stdout
    assert "refused: 1 invented citation\n" in shown.stdout


def test_without_a_model_the_last_line_tells_of_no_research(filled: Cli) -> None:
    shown = filled("answer", "--space", SPACE, "--question", "kitchen floor")
    assert "1 search, 0 requests, " in shown.stdout
    assert "research ended" not in shown.stdout


def test_for_people_so_much_evidence_is_shown_as_a_recall_gives(capsys: pytest.CaptureFixture[str]) -> None:
    evidence = tuple(hit(f"t{n}", f"text {n}") for n in range(12))
    plain: dict[str, Any] = {
        "id": None,
        "confidence": None,
        "inferred": False,
        "citations": (),
        "research": Research.ENOUGH,
    }
    plain |= {"stale": False, "behind": 0, "took_ms": 1.0, "used": Used()}
    show_answer("what?", Answer(answer=None, reason=Reason.NOT_IN_MEMORY, evidence=evidence, **plain))
    printed = capsys.readouterr().out
    assert "text 9\n" in printed
    assert "text 10" not in printed
    assert "2 more: --json shows all" in printed
