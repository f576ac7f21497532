from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.bench.baselines import bm25, dense, recent
from infra.bench.evidence import Score, evidence_recall, locomo_table, no_positive, score
from infra.bench.question_sets import Asked, PlainTurn, Sample, load_beam, load_locomo
from infra.errors import UsageError
from tests.fakes.told import WordEmbedder

TURNS = (
    PlainTurn("D1:1", "Ana", "The hens are laying again"),
    PlainTurn("D1:2", "Bo", "I bought a red bicycle"),
    PlainTurn("D1:3", "Ana", "We painted the barn"),
    PlainTurn("D2:1", "Bo", "Rain all week"),
)


def asked(group: str, *evidence: str, name: str = "q") -> Asked:
    return Asked(name, "Who bought a red bicycle?", group, evidence)


def sample(*questions: Asked) -> Sample:
    return Sample("locomo/x", TURNS, questions)


@pytest.mark.parametrize(
    ("evidence", "ranking", "k", "recall"),
    [
        (("a",), ["a", "b"], 1, 1.0),
        (("a",), ["b", "a"], 1, 0.0),
        (("a", "b"), ["b", "c", "a"], 2, 0.5),
        (("a", "b"), ["b", "b", "a"], 2, 1.0),
        (("a", "b", "c"), [], 10, 0.0),
    ],
)
def test_evidence_recall(evidence: tuple[str, ...], ranking: list[str], k: int, recall: float) -> None:
    assert evidence_recall(asked("1", *evidence), ranking, k) == recall


def test_no_evidence_no_recall() -> None:
    with pytest.raises(ValueError, match="no evidence"):
        evidence_recall(asked("1"), ["a"], 10)


@given(st.permutations("abcdef"), st.integers(1, 6))
def test_recall_never_falls_with_k(ranking: list[str], k: int) -> None:
    question = asked("1", "a", "d")
    assert evidence_recall(question, ranking, k) <= evidence_recall(question, ranking, k + 1)


def test_rows_by_group_skip_questions_without_evidence_and_count_missing_ones_as_misses() -> None:
    one = sample(asked("1", "D1:1", "D1:2", name="a"), asked("1", "D1:3", name="b"), asked("5", "D2:1", name="c"))
    other = sample(asked("4", name="d"), asked("4", "D1:1", name="e"))
    ranking = {"a": ["D1:1"], "b": ["D1:3"], "e": ["D2:1"], "d": ["D1:1"]}
    assert score([one, other], ranking) == [
        Score("1", 2, 0.75, 0.5),
        Score("4", 1, 0.0, 0.0),
        Score("5", 1, 0.0, 0.0),
    ]
    assert locomo_table([one, other], ranking)[-2:] == [Score("1-4", 3, 0.5, 1 / 3), Score("all", 4, 0.375, 0.25)]


def test_no_positive_rate_takes_the_first_turns_of_each_speaker() -> None:
    ranking = {"a": ["D1:2", "D2:1", "D1:3", "D1:1"]}
    assert no_positive([sample(asked("1", "D1:1", name="a"))], ranking, per_speaker=1) == 1.0
    assert no_positive([sample(asked("1", "D1:1", name="a"))], ranking, per_speaker=2) == 0.0
    assert no_positive([sample(asked("1", "D1:3", name="a"))], ranking, per_speaker=1) == 0.0
    assert no_positive([sample(asked("5", "D1:1", name="a"))], {}) == 0.0


def locomo(path: Path) -> Path:
    def turn(name: str, text: str, caption: str | None = None) -> dict[str, Any]:
        picture = {"blip_caption": caption, "query": "not said"} if caption else {}
        return {"speaker": "Ana", "dia_id": name, "text": text, **picture}

    conversation = {
        "speaker_a": "Ana",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_10": [turn("D10:1", "last")],
        "session_2": [turn("D2:1", "look", "a photo of hens")],
        "session_1": [turn("D1:1", "hi"), turn("D1:2", "there")],
        "session_11_date_time": "1:56 pm on 9 May, 2023",
    }
    questions = [
        {"question": "a?", "answer": 1, "category": 2, "evidence": ["D1:1; D2:01", "D1:1"]},
        {"question": "b?", "category": 5, "adversarial_answer": "x", "evidence": ["D", "D7:3", "D:1:2", "D10:1"]},
        {"question": "c?", "category": 3, "evidence": []},
    ]
    path.write_text(json.dumps([{"sample_id": "c-1", "conversation": conversation, "qa": questions}]))
    return path


def test_locomo_is_read_in_the_order_of_its_sessions(tmp_path: Path) -> None:
    (read,) = load_locomo(locomo(tmp_path / "l.json"))
    assert read.space == "locomo/c-1"
    assert [turn.turn_id for turn in read.turns] == ["D1:1", "D1:2", "D2:1", "D10:1"]
    assert read.turns[2] == PlainTurn("D2:1", "Ana", "look\na photo of hens")


def test_locomo_evidence_is_read_by_pattern_and_what_does_not_exist_is_dropped(tmp_path: Path) -> None:
    (read,) = load_locomo(locomo(tmp_path / "l.json"))
    assert [(one.group, one.evidence) for one in read.questions] == [
        ("2", ("D1:1", "D2:1")),
        ("5", ("D10:1",)),
        ("3", ()),
    ]
    assert len({one.id for one in read.questions}) == 3


def beam(path: Path) -> Path:
    messages = [
        {"role": "user", "id": 0, "content": "Plan my sprint ->-> 1,1"},
        {"role": "assistant", "id": 1, "content": "Sure -> here"},
        {"role": "user", "id": 2, "content": "It ends on May 3 ->-> 1,2"},
    ]
    probes = {
        "abstention": [{"question": "why?"}],
        "information_extraction": [{"question": "When does it end?", "source_chat_ids": [2, 99]}],
        "knowledge_update": [{"question": "And now?", "source_chat_ids": {"first": [0], "then": [[2], 0]}}],
    }
    chat = [{"batch_number": 1, "turns": [messages[:2], messages[2:]]}]
    body = json.dumps({"chat_id": 7, "chat": chat, "probing_questions": probes}).encode()
    path.write_bytes(gzip.compress(body) if path.suffix == ".gz" else body)
    return path


@pytest.mark.parametrize("name", ["chat.json", "chat.json.gz"])
def test_beam_sources_may_be_lists_or_named_lists(tmp_path: Path, name: str) -> None:
    (read,) = load_beam(beam(tmp_path / name))
    assert (read.space, [turn.text for turn in read.turns]) == (
        "beam/7",
        ["Plan my sprint", "Sure -> here", "It ends on May 3"],
    )
    assert {one.group: one.evidence for one in read.questions} == {
        "abstention": (),
        "information_extraction": ("2",),
        "knowledge_update": ("0", "2"),
    }
    assert [row.group for row in score([read], {})] == ["information_extraction", "knowledge_update"]


def test_a_folder_of_chats_is_read_in_the_order_of_names(tmp_path: Path) -> None:
    beam(tmp_path / "b.json.gz")
    beam(tmp_path / "a.json")
    assert len(load_beam(tmp_path)) == 2


@pytest.mark.parametrize(("read", "text"), [(load_locomo, "{}"), (load_beam, "[]")])
def test_another_file_is_refused_by_name(tmp_path: Path, read: Any, text: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"other\.json"):
        read(path)


async def test_baselines_rank_every_turn() -> None:
    one = sample(asked("1", "D1:2"))
    assert recent(one)["q"] == ["D2:1", "D1:3", "D1:2", "D1:1"]
    assert bm25(one)["q"][0] == "D1:2"
    by_sense = (await dense(one, WordEmbedder()))["q"]
    assert by_sense[0] == "D1:2"
    assert sorted(by_sense) == sorted(turn.turn_id for turn in TURNS)
