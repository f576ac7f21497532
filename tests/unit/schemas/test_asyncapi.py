"""The AsyncAPI document: it is one by AsyncAPI's own schema, and what really lies in topics is what it says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator, Draft202012Validator

pytest.importorskip("kafka", reason="the extra `kafka` is not installed")

from infra.asyncapi import document
from infra.kafka.topics import wanted
from streams.kafka.wire import memory_row
from streams.topology import FLOW, MEMORY, TURNS
from tests.fakes.real_home import SPACE, RealHome, mixed, said

ROOT = Path(__file__).parents[3]
OWN_SCHEMA = ROOT / "tests" / "data" / "asyncapi-3.0.0.json"
"""Of the AsyncAPI Initiative (@asyncapi/specs 6.11.1, Apache-2.0), in one file without references to others."""


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    return document()


@pytest.fixture(scope="module")
def own() -> Draft7Validator:
    return Draft7Validator(json.loads(OWN_SCHEMA.read_text()))


def test_the_committed_copy_is_what_is_made(made: dict[str, Any]) -> None:
    told = "run `anabranch schemas asyncapi schemas/asyncapi.json`"
    assert json.loads((ROOT / "schemas" / "asyncapi.json").read_text()) == made, told


def test_it_is_an_asyncapi_document(made: dict[str, Any], own: Draft7Validator) -> None:
    assert [error.message for error in own.iter_errors(made)] == []


@pytest.mark.parametrize(
    ("where", "wrong"),
    [
        (("channels", "turns", "bindings", "kafka", "partitions"), "many"),
        (("operations", "publish", "action"), "eat"),
        (("components", "schemas", "Header", "type"), "thing"),
    ],
    ids=str,
)
def test_another_would_be_told(own: Draft7Validator, where: tuple[str, ...], wrong: str) -> None:
    spoilt = document()
    place = spoilt
    for name in where[:-1]:
        place = place[name]
    place[where[-1]] = wrong
    assert list(own.iter_errors(spoilt))


def references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        yield from ([part["$ref"]] if isinstance(part.get("$ref"), str) else [])
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from references(inner)


def test_every_reference_leads_somewhere_and_every_topic_is_a_channel(made: dict[str, Any]) -> None:
    for reference in set(references(made)):
        place = made
        for name in reference.removeprefix("#/").split("/"):
            place = place[name]
    assert {one["address"] for one in made["channels"].values()} == {topic.name for topic in wanted(replication=3)}


def fitting(made: dict[str, Any], topic: str, value: bytes) -> list[str]:
    """Return the messages of a topic whose schema the value fits."""
    (channel,) = [one for one in made["channels"].values() if one["address"] == topic]
    body, fits = json.loads(value), []
    for name in channel["messages"]:
        payload = made["components"]["messages"][name]["payload"]
        if Draft202012Validator({**payload, "components": made["components"]}).is_valid(body):
            fits.append(name)
    return fits


async def test_what_the_stages_write_is_what_it_says(tmp_path: Path, made: dict[str, Any]) -> None:
    home = RealHome(tmp_path)
    drain = {
        "kind": "control",
        "space": SPACE,
        "event_id": "drain-1",
        "at": "2026-03-02T09:00:00Z",
        "body": {"action": "drain"},
    }
    home.publish([*mixed(), said("long", "I live in Oslo. " * 60)])
    with home.journal() as journal:
        journal.append(SPACE, [json.dumps(drain).encode()], own=True)
    await home.run()
    found: dict[str, set[str]] = {}
    with home.journal() as journal:
        for step in FLOW[:-1]:
            for record in journal.read_records(step.target.name, SPACE, -1, 10_000):
                names = fitting(made, step.target.name, record.body)
                assert len(names) == 1, (step.target.name, record.body[:200])
                found.setdefault(step.target.name, set()).update(names)
        rows = list(journal.rows(SPACE))
    for row in rows:
        assert fitting(made, MEMORY.name, memory_row(row, MEMORY.name, 0).value) == ["row"]
    assert found == {
        "turns.normalized": {"normalized", "passed", "skipped"},
        "turns.localized": {"localized", "passed", "skipped"},
        "turns.extracted": {"extracted", "passed", "skipped"},
        "turns.routed": {"routed", "skipped"},
    }
    assert fitting(made, TURNS.name, said("t", "Hello.")) == ["turn"]
    assert fitting(made, TURNS.name, json.dumps(drain).encode()) == ["control"]
    assert fitting(made, TURNS.name, said("t", "Hello.", colour="red")) == []
    assert all(fitting(made, "letters", letter.model_dump_json().encode()) == ["letter"] for letter in home.letters())
