"""Fault 14: a turn has a budget of calls, tokens and time, and what it costs is measured."""

from __future__ import annotations

import json
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


async def test_fault_14_what_a_turn_costs_is_shown(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ChatServer() as server:
        server.script = plain
        assert await run_model(settings(home, server), TALK, Format.JSONL, 12, console())
    shown = capsys.readouterr()
    assert "calls a turn" in shown.out + shown.err
    assert "tokens in" in shown.out + shown.err
