"""Fault 14: a turn has a budget of calls, tokens and time, and what it costs is measured."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import pytest

import infra.demo
from infra.bench.model_run import MOST_CALLS, run_model
from infra.bootstrap import open_embedded
from infra.cli.output import console
from infra.importers import Format, publish, read
from infra.settings import Settings
from streams.metrics import ModelCounts, Outcome
from tests.fakes.chat_server import ChatServer
from tests.fakes.plain_model import plain

TALK = Path(infra.demo.__file__).with_name("conversation.jsonl")
TURNS = 60
CONTEXT = 8192
CROWD = 160
"""Turns of a channel: three rounds of discovery, after which a set of views is chosen, at most ten calls more."""


def settings(home: Path, server: ChatServer) -> Settings:
    return Settings(home=home, embedder="hash", language_model=server.setting, model_context=CONTEXT)


async def test_fault_14_a_turn_costs_two_calls_at_most_and_each_keeps_to_its_budget(home: Path) -> None:
    counts = ModelCounts()
    with ChatServer() as server:
        server.script = plain
        async with open_embedded(settings(home, server), counts=counts) as memory:
            await publish(memory, islice(read(TALK, Format.JSONL), TURNS))
            await memory.run()
            assert memory.sums().committed == TURNS
    total = counts.total()
    assert total.outcomes.keys() == {Outcome.ANSWERED}
    assert TURNS < total.calls == len(server.asked) <= MOST_CALLS * TURNS
    assert {asked.name for asked in server.asked} == {"normalize_understand", "extract_per_view_extract", "route_route"}
    for asked in server.asked:
        longest = max(len(json.dumps(asked.body["messages"])) / 4, 1) + asked.body["max_tokens"]
        assert longest <= CONTEXT
    assert total.prompt_tokens == 100 * total.calls, "what the endpoint counted"
    assert total.prefix_bytes > total.data_bytes, "most of a prompt is what requests share"


def channel(path: Path) -> Path:
    """Write a channel in which each turn is somebody's first, of something new a day later: nobody answers anybody."""
    lines = [
        {
            "space": "acme/channel",
            "turn_id": f"t{n}",
            "speaker": {"id": f"u{n}", "name": f"Person{n}"},
            "text": f"topic{n} subject{n} and I own {n + 2} red boats.",
            "at": (datetime(2026, 3, 1, 9, tzinfo=UTC) + timedelta(days=n)).isoformat(),
        }
        for n in range(CROWD)
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


async def test_fault_14_a_turn_of_a_channel_costs_two_calls_at_most_too(home: Path, tmp_path: Path) -> None:
    """Where every turn opens an exchange that nobody joins, two of them are read by one request."""
    counts = ModelCounts()
    with ChatServer() as server:
        server.script = plain
        async with open_embedded(settings(home, server), counts=counts) as memory:
            await publish(memory, islice(read(channel(tmp_path / "channel.jsonl"), Format.JSONL), CROWD))
            await memory.run()
            assert memory.sums().committed == CROWD
    asked = Counter(one.name.partition("_")[0] for one in server.asked)
    kinds = Counter(one.name for one in server.asked)
    assert kinds["extract_per_view_canonical"] > 0, "the views of the space converged, which counts as well"
    assert kinds["extract_per_view_extract"] <= CROWD // 2, "two lone turns at once: none of them found an answer"
    assert asked["normalize"] == CROWD
    assert asked["extract"] <= 0.8 * CROWD
    assert asked["route"] <= 0.2 * CROWD
    assert counts.total().calls == len(server.asked) <= MOST_CALLS * CROWD


async def test_fault_14_what_a_turn_costs_is_shown(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ChatServer() as server:
        server.script = plain
        assert await run_model(settings(home, server), TALK, Format.JSONL, 12, console())
    shown = capsys.readouterr()
    assert "calls a turn" in shown.out + shown.err
    assert "tokens in" in shown.out + shown.err
