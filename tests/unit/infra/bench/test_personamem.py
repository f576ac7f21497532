"""PersonaMem's two files and its accuracy, on records of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from infra.bench.personamem import Accuracy, Choice, accuracy, load_personamem
from infra.bench.question_sets import PlainTurn
from infra.errors import UsageError

near: Any = pytest.approx
OPTIONS = "['(a) Try the swimming club', '(b) Run, as ever', '(c) Rest your knee', '(d) Buy a bicycle']"
HEAD = (
    "persona_id,question_id,question_type,user_question_or_message,correct_answer,all_options,"
    "shared_context_id,end_index_in_shared_context"
)


def personamem(tmp_path: Path, *rows: tuple[str, str, str, int], context: str = "c1") -> tuple[Path, Path]:
    questions, contexts = tmp_path / "questions.csv", tmp_path / "contexts.jsonl"
    lines = [f'0,{q},{kind},"What now,\nthen?",{correct},"{OPTIONS}",{context},{end}' for q, kind, correct, end in rows]
    questions.write_text("\n".join([HEAD, *lines]) + "\n")
    said = [{"role": "user", "content": "My knee hurts."}, {"role": "assistant", "content": "Rest."}]
    contexts.write_text(json.dumps({"c1": said}) + "\n" + json.dumps({"c2": []}) + "\n")
    return questions, contexts


def test_options_are_asked_at_a_point_of_the_conversation(tmp_path: Path) -> None:
    first, second = load_personamem(*personamem(tmp_path, ("q1", "recall", "(c)", 1), ("q2", "recall", "(a)", 2)))
    assert first == Choice(
        "q1", "recall", "What now,\nthen?", OPTIONS, "(c)", (PlainTurn("0", "user", "My knee hurts."),)
    )
    assert [turn.speaker for turn in second.turns] == ["user", "assistant"]
    assert first.asked.startswith("What now,\nthen?\n\n")
    assert first.asked.endswith(OPTIONS)


@pytest.mark.parametrize(
    ("row", "context", "said"),
    [
        (("q1", "recall", "(e)", 1), "c1", "question 1: the right answer should name one option"),
        (("q1", "recall", "(c)", 1), "c9", "question 1: no such column, context or index"),
    ],
)
def test_a_question_that_does_not_fit_is_named(
    tmp_path: Path, row: tuple[str, str, str, int], context: str, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        list(load_personamem(*personamem(tmp_path, row, context=context)))


@pytest.mark.parametrize("line", ["[]", "{", '{"c": [{"role": "user"}]}', '{"c": 7}'])
def test_a_context_that_does_not_fit_is_named(tmp_path: Path, line: str) -> None:
    questions, contexts = personamem(tmp_path, ("q1", "recall", "(c)", 1))
    contexts.write_text(f"{line}\n")
    with pytest.raises(UsageError, match="line 1 is not a context of PersonaMem"):
        list(load_personamem(questions, contexts))


def test_accuracy_by_kind_and_over_all(tmp_path: Path) -> None:
    rows = [("q1", "b", "(c)", 1), ("q2", "a", "(a)", 2), ("q3", "a", "(d)", 2), ("q4", "a", "(b)", 2)]
    asked = list(load_personamem(*personamem(tmp_path, *rows)))
    answers = {"q1": "<final_answer>(c)", "q2": "(a)", "q3": "(a) or (d)"}  # q4 has none
    assert accuracy(asked, answers) == [
        Accuracy("a", 3, near(1 / 3)),
        Accuracy("b", 1, 1.0),
        Accuracy("all", 4, 0.5),
    ]
    every_letter = [accuracy(asked, dict.fromkeys(("q1", "q2", "q3", "q4"), f"({x})"))[-1].share for x in "abcd"]
    assert every_letter == [0.25] * 4  # chance, where each option is right once
    assert accuracy([], {}) == []
