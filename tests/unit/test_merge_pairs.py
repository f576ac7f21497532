"""The shape of the pairs that consolidation is held to: what may become one record, and what stays apart.

Each label is a case; a pair of a case that merges tells why two records are one, the others what keeps them apart.
``needs_model`` marks what only a rewrite or the knowledge of a paraphrase can join. Intervals are half open.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

PAIRS: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parents[1] / "data" / "merge_pairs.jsonl").open(encoding="utf-8")
]
MERGING = {"containment", "exact", "complementarity"}
APART = {
    "independence",
    "conflict",
    "other_time",
    "other_number",
    "other_owner",
    "other_branch",
    "negation",
}
SIDE = {"text", "owner", "subject", "attribute", "at", "interval", "branch", "negated", "turn_id"}
SCRIPTS = {
    "Han": ("\u4e00", "\u9fff"),
    "kana": ("\u3040", "\u30ff"),
    "Arabic": ("\u0600", "\u06ff"),
    "Devanagari": ("\u0900", "\u097f"),
    "Cyrillic": ("\u0400", "\u04ff"),
}


def of(label: str) -> list[dict[str, Any]]:
    return [pair for pair in PAIRS if pair["label"] == label]


def sides() -> list[dict[str, Any]]:
    return [pair[side] for pair in PAIRS for side in "ab"]


def differ(pair: dict[str, Any], *fields: str) -> bool:
    return any(pair["a"][field] != pair["b"][field] for field in fields)


def spoken(pair: dict[str, Any]) -> frozenset[str]:
    """What a pair is, whichever of its sides comes first."""
    return frozenset(json.dumps({**pair[side], "at": None, "turn_id": None}, sort_keys=True) for side in "ab")


def test_there_are_enough_of_each_label() -> None:
    counts = Counter(pair["label"] for pair in PAIRS)
    assert set(counts) == MERGING | APART
    assert len(PAIRS) >= 240
    assert min(counts.values()) >= 20


def test_ids_and_turns_are_unique() -> None:
    for names in ([pair["id"] for pair in PAIRS], [side["turn_id"] for side in sides()]):
        assert len(set(names)) == len(names)


def test_no_pair_comes_twice() -> None:
    assert [found for found, times in Counter(map(spoken, PAIRS)).items() if times > 1] == []


def test_fields_and_types() -> None:
    for pair in PAIRS:
        assert set(pair) - {"needs_model"} == {"id", "kind", "label", "merge", "a", "b"}
        assert pair["kind"] in {"event", "fact", "attribute"}
    for side in sides():
        assert set(side) == SIDE
        assert side["text"].strip()
        assert side["owner"]
        assert (type(side["branch"]), type(side["negated"])) == (int, bool)


def test_an_attribute_has_a_key_and_nothing_else_has() -> None:
    assert [pair["id"] for pair in PAIRS if differ(pair, "attribute")] == []
    assert [pair["id"] for pair in PAIRS if (pair["kind"] == "attribute") != bool(pair["a"]["attribute"])] == []


def test_what_merges_is_told_by_the_label() -> None:
    assert [pair["id"] for pair in PAIRS if pair["merge"] != (pair["label"] in MERGING)] == []


def test_a_model_is_needed_for_every_complement_and_for_nothing_that_stays_apart() -> None:
    needing = {pair["id"] for pair in PAIRS if pair.get("needs_model")}
    assert needing >= {pair["id"] for pair in of("complementarity")}
    assert [pair["id"] for pair in PAIRS if pair["id"] in needing and not pair["merge"]] == []


def test_times_have_an_offset_and_are_in_order() -> None:
    for pair in PAIRS:
        first, second = (datetime.fromisoformat(pair[side]["at"]) for side in "ab")
        assert first.utcoffset() is not None
        assert first < second, pair["id"]
    for side in sides():
        if side["interval"] is not None:
            start, end = map(datetime.fromisoformat, side["interval"])
            assert start.utcoffset() is not None
            assert start < end, side["turn_id"]


def test_what_merges_is_of_one_owner_branch_polarity_and_time() -> None:
    keys = ("owner", "subject", "attribute", "branch", "negated", "interval")
    assert [pair["id"] for pair in PAIRS if pair["merge"] and differ(pair, *keys)] == []


def test_what_stays_apart_differs_in_what_its_label_says_and_not_in_owner_branch_or_time_else() -> None:
    own = {"other_owner": ("owner", "subject"), "other_branch": ("branch",), "other_time": ("interval",)}
    assert [pair["id"] for label, fields in own.items() for pair in of(label) if not differ(pair, *fields)] == []
    for label, fields in own.items():
        others = [pair for pair in PAIRS if pair["label"] not in {label, "independence"}]
        assert [pair["id"] for pair in others if differ(pair, *fields)] == []


def test_other_times_do_not_overlap() -> None:
    for pair in of("other_time"):
        assert pair["a"]["interval"][1] <= pair["b"]["interval"][0], pair["id"]


def test_another_number_or_word_is_said_where_the_label_says_so() -> None:
    for label in ("independence", "conflict", "other_number", "negation"):
        assert [pair["id"] for pair in of(label) if pair["a"]["text"] == pair["b"]["text"]] == []


def test_twins_in_two_threads_and_owners_are_often_the_same_word_for_word() -> None:
    for label in ("other_owner", "other_branch", "other_time"):
        assert sum(pair["a"]["text"] == pair["b"]["text"] for pair in of(label)) >= 5


@pytest.mark.parametrize("label", sorted(MERGING | APART))
def test_every_label_has_pairs_in_other_scripts(label: str) -> None:
    for low, high in SCRIPTS.values():
        assert any(any(low <= sign <= high for sign in pair["a"]["text"]) for pair in of(label))
