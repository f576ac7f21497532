"""``views``: the sets by version, since when each holds, and why each view is there."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from schemas.memory import RecordKind, RecordRow
from schemas.space import Space
from schemas.view import ItemKind, View, ViewDetail
from tests.fakes.command import SPACE, Cli
from tests.fakes.memory import FakeMemory


def record(number: int, detail: ViewDetail, **more: object) -> RecordRow:
    return RecordRow.model_validate(
        {
            "space": Space(SPACE),
            "id": f"v{number}",
            "kind": RecordKind.VIEW,
            "text": "x",
            "owner": None,
            "speaker": None,
            "at": datetime(2026, 3, 2, tzinfo=UTC),
            "provenance": ("t1", "t4"),
            "since": 99,
            "view": detail,
        }
        | more
    )


def detail(name: str, **more: object) -> ViewDetail:
    view = View(id=name, name=f"{name} talk", kind=ItemKind.FACT, slots=("what",), template=f"Look for {name}.")
    return ViewDetail.model_validate({"view": view} | more)


ROWS = [
    record(1, detail("v2-1", version=2, holds_from=100, seed="c99-4", neighbours=("c99-1", "work"))),
    record(2, detail("v2-2", version=2, holds_from=100, seed="c99-7"), degraded=True),
    record(3, detail("c99-4")),
]


def test_sets_are_told_by_version(filled: Cli, memory: FakeMemory) -> None:
    told = with_views(filled, memory, "--json").splitlines()
    views = [json.loads(line) for line in told]
    assert [one["version"] for one in views] == [1] * 10 + [2] * 2
    assert [one["since"] for one in views] == [0] * 10 + [100] * 2
    assert views[-2] == {
        "version": 2,
        "since": 100,
        "id": "v2-1",
        "name": "v2-1 talk",
        "kind": "fact",
        "slots": ["what"],
        "template": "Look for v2-1.",
        "seed": "c99-4",
        "neighbours": ["c99-1", "work"],
        "turn_ids": ["t1", "t4"],
        "degraded": False,
    }


def test_the_table_says_why_each_is_there(filled: Cli, memory: FakeMemory) -> None:
    told = " ".join(with_views(filled, memory).split())
    assert "every space starts with it" in told
    assert "chosen as c99-4, rewritten with its 2 nearest, found in t1, t4" in told
    assert "chosen as c99-7, not rewritten" in told


def with_views(filled: Cli, memory: FakeMemory, *options: str) -> str:
    """Return what is told of a memory that holds these rows too."""
    memory.extra = [*ROWS]
    result = filled("views", "--space", SPACE, *options)
    assert result.exit_code == 0, result.output
    return result.stdout
