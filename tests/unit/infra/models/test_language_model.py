"""The language model of the stages against a server on a real socket: what it makes of each kind of answer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from schemas.space import Space
from stages.prompts import Prompt
from streams.metrics import OTHERS, TENANTS, ModelCounts, Outcome
from tests.fakes.asked_model import FINE, NO_USE, PROMPT, WELL, Mood, asking, outcomes, request
from tests.fakes.chat_server import ChatServer, Reply, said
from tests.fakes.results import MemoryResults


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with ChatServer() as one:
        yield one


async def test_an_answer_is_kept_and_asked_for_once(server: ChatServer) -> None:
    async with asking(server) as model:
        assert await model.ask(request()) == FINE
        assert await model.ask(request()) == FINE
        assert len(server.asked) == 1
        assert outcomes(model) == {Outcome.ANSWERED: 1, Outcome.CACHED: 1}
        use = model.counts.of("normalize", "acme")
        assert (use.calls, use.prompt_tokens, use.answer_tokens) == (1, 100, 10)
        assert use.prefix_bytes > use.data_bytes > 0


@pytest.mark.parametrize("count", [True, -1, 10**400, 2**53, 1.5, "7", None])
async def test_a_count_that_is_none_counts_nothing(server: ChatServer, count: object) -> None:
    """What is kept is strict, and figures are floats: the turn would be a letter, or the figures gone."""
    async with asking(server, said(WELL, prompt_tokens=count)) as model:
        assert await model.ask(request()) == FINE
        assert model.counts.total().prompt_tokens == 0


async def test_what_is_sent(server: ChatServer) -> None:
    async with asking(server, key="s3cret") as model:
        await model.ask(request())
    (asked,) = server.asked
    assert (asked.path, asked.headers["authorization"]) == ("/v1/chat/completions", "Bearer s3cret")
    assert {"temperature": 0, "max_tokens": 64, "model": "m"}.items() <= asked.body.items()
    form = asked.body["response_format"]["json_schema"]
    assert form["strict"]
    assert form["schema"]["required"] == ["mood", "quotes"]
    assert not form["schema"]["additionalProperties"]
    system, user = asked.body["messages"]
    assert system == {"role": "system", "content": f"{PROMPT.text}\n\nThe speakers are Mia and Rook."}
    assert user == {"role": "user", "content": '{"turn":"I am fine."}'}
    assert "cache_salt" not in asked.body


@pytest.mark.parametrize("name", NO_USE)
async def test_no_use_is_asked_once_more(server: ChatServer, name: str) -> None:
    async with asking(server, NO_USE[name]) as model:
        assert await model.ask(request()) == FINE
        assert outcomes(model) == {Outcome.REASKED: 1}
        assert await model.ask(request()) == FINE
    first, second = server.asked
    assert first.body["messages"][0] == second.body["messages"][0]
    assert second.user.startswith(first.user)
    assert len(second.user) < len(first.user) + 700


@pytest.mark.parametrize("name", NO_USE)
async def test_no_use_twice_is_degraded_and_kept(server: ChatServer, name: str) -> None:
    async with asking(server, NO_USE[name], NO_USE[name]) as model:
        assert await model.ask(request()) is None
        assert await model.ask(request()) is None
        assert len(server.asked) == 2
        assert outcomes(model) == {Outcome.DEGRADED: 2}


async def test_over_the_budget_nothing_is_called(server: ChatServer) -> None:
    async with asking(server) as model:
        model.context = 500
        assert await model.ask(request("I am fine. " * 200)) is None
        assert outcomes(model) == {Outcome.OVER_BUDGET: 1}
    assert not server.asked


async def test_no_more_at_once_than_wanted(server: ChatServer) -> None:
    async with asking(server, concurrency=2) as model:
        said_by = server.script
        open_ones, most = 0, 0

        def script(asked: object) -> Reply:
            async def reply(*args: object) -> None:
                nonlocal open_ones, most
                open_ones += 1
                most = max(most, open_ones)
                await asyncio.sleep(0.01)
                open_ones -= 1
                await said(WELL)(*args)  # type: ignore[arg-type]

            return reply

        server.script = script
        await asyncio.gather(*(model.ask(request(f"I am fine {n}.")) for n in range(12)))
        server.script = said_by
    assert most == 2


async def test_tenants_share_no_prefix_where_there_is_a_secret(server: ChatServer) -> None:
    async with asking(server, salt="secret") as model:
        for space in ("acme/u-1", "acme/u-2", "bolt/u-1"):
            await model.ask(request(space=Space(space)))
    one, same, other = (asked.body["cache_salt"] for asked in server.asked)
    assert one == same != other
    assert "acme" not in one


async def test_what_changes_an_answer_is_in_its_key(server: ChatServer) -> None:
    results = MemoryResults()
    async with asking(server, results=results) as model:
        for changed in (PROMPT, Prompt("normalize.mood", 2, PROMPT.text, Mood, 64)):
            await model.ask(request(prompt=changed))
        await model.ask(request("I am fine!"))
        await model.ask(request(space=Space("acme/u-2")))
        await model.ask(request())
    assert len(server.asked) == len(results.kept) == 4
    assert len({key for _, key in results.kept}) == 3
    assert {result.prompt for result in results.kept.values()} == {"normalize.mood"}


async def test_an_answer_that_another_kept_first_stands(server: ChatServer) -> None:
    results = MemoryResults()
    async with asking(server, results=results) as model:
        await model.ask(request())
        ((place, kept),) = results.kept.items()

        class Late(MemoryResults):
            async def get(self, space: Space, key: str) -> None:
                return None

        results.kept[place] = kept.model_copy(update={"text": '{"mood": "ill", "quotes": []}'})
        model.results = Late(results.kept)
        assert await model.ask(request()) == Mood(mood="ill")


def test_tenants_beyond_the_first_share_a_figure() -> None:
    counts = ModelCounts()
    for n in range(TENANTS + 5):
        counts.of("route", f"t{n}").calls += 1
    assert counts.of("route", OTHERS).calls == 5
    assert counts.of("normalize", "t0") is not counts.of("route", "t0")
    assert len(counts.uses) == TENANTS + 2
    assert counts.total().calls == TENANTS + 5
