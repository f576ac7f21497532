"""The exported JSON Schemas are the committed ones: a change of a schema is seen in review."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from infra.schema_export import documents
from schemas.base import Model
from schemas.interval import Grain, Interval
from schemas.memory import EdgeRow, EdgeType, RecordRow, row_key
from schemas.recall import Recalled
from schemas.space import Space
from schemas.turn import Turn

COMMITTED = Path(__file__).parents[3] / "schemas" / "json"
GOOD = {
    "space": "acme/u-42",
    "turn_id": "c1:17",
    "speaker": {"id": "u-42", "name": "Mia", "role": "user"},
    "text": "hello",
    "at": "2026-03-01T18:22:05+01:00",
    "reply_to": "c1:16",
    "session": "c1",
    "attachments": [{"caption": "a dog", "url": "u"}],
}


def test_committed_schemas_are_the_exported_ones() -> None:
    exported = documents()
    assert sorted(path.stem for path in COMMITTED.glob("*.json")) == sorted(exported)
    for name, document in exported.items():
        assert json.loads((COMMITTED / f"{name}.json").read_text()) == document, (
            f"run `anabranch schemas export` ({name})"
        )


def test_a_turn_reads_as_published() -> None:
    turn = Turn.model_validate_json(json.dumps(GOOD))
    assert turn.space == Space("acme/u-42")
    assert turn.space.tenant == "acme"
    assert turn.space.name == "u-42"
    assert turn.at.isoformat() == "2026-03-01T18:22:05+01:00"
    assert Turn.model_validate_json(turn.model_dump_json()) == turn


BAD = [
    ({"at": "2026-03-01T18:22:05"}, "timezone"),
    ({"at": 12}, "at"),
    ({"colour": "red"}, "colour"),
    ({"space": "acme"}, "space"),
    ({"space": "acme/"}, "space"),
    ({"space": "/u"}, "space"),
    ({"space": "a/b/c"}, "space"),
    ({"space": "a/b\n"}, "space"),
    ({"turn_id": ""}, "turn_id"),
    ({"turn_id": "x" * 257}, "turn_id"),
    ({"turn_id": 7}, "turn_id"),
    ({"speaker": "mia"}, "speaker"),
    ({"speaker": {"id": "mia", "role": "king"}}, "role"),
    ({"revision": -1}, "revision"),
    ({"text": None}, "text"),
]


@pytest.mark.parametrize(("change", "named"), BAD)
def test_bad_turns_are_refused_by_field(change: dict[str, object], named: str) -> None:
    with pytest.raises(ValidationError, match=named):
        Turn.model_validate_json(json.dumps(GOOD | change))


def test_a_record_without_provenance_cannot_be_built() -> None:
    row: dict[str, object] = {
        "space": "a/b",
        "id": "1",
        "kind": "fact",
        "text": "t",
        "owner": None,
        "speaker": None,
        "at": "2026-03-01T00:00:00Z",
        "provenance": [],
        "since": 0,
    }
    with pytest.raises(ValidationError, match="provenance"):
        RecordRow.model_validate_json(json.dumps(row))


def test_intervals_end_after_they_start() -> None:
    at = Turn.model_validate_json(json.dumps(GOOD)).at
    with pytest.raises(ValidationError, match="end after it starts"):
        Interval(start=at, end=at, grain=Grain.DAY)


def test_models_are_frozen() -> None:
    turn = Turn.model_validate_json(json.dumps(GOOD))
    with pytest.raises(ValidationError, match="frozen"):
        turn.text = "other"  # type: ignore[misc]  # what this test shows


def test_every_schema_has_a_version() -> None:
    for name, document in documents().items():
        variants = [document, *document.get("$defs", {}).values()] if "properties" not in document else [document]
        inside = any("schema_version" in variant.get("properties", {}) for variant in variants)
        assert inside or document.get("x-schema-version") == 1, name


def test_the_read_side_and_the_views_are_exported() -> None:
    assert documents().keys() >= {"question", "recalled", "context_input", "bundle", "view_set"}


def test_answers_keep_the_printed_shape() -> None:
    assert set(documents()["recalled"]["properties"]) == {"id", "hits", "stale", "behind", "took_ms", "degraded"}
    assert "degraded" not in Recalled(id=None, hits=(), stale=False, behind=0, took_ms=1.0).model_dump(mode="json")
    assert set(documents()["bundle"]["properties"]) == {"id", "placement", "lines", "tokens"}


def test_what_is_asked_needs_the_question_only() -> None:
    assert documents()["question"]["required"] == ["question"]
    assert documents()["context_input"]["required"] == ["text"]


def test_row_keys_tell_rows_apart() -> None:
    edge = EdgeRow(space=Space("a/b"), source="x", target="y", type=EdgeType.NEXT, strength=70, since=0)
    assert row_key(edge) == "edge x y next"
    assert issubclass(EdgeRow, Model)
