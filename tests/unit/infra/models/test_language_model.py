"""The language model of the stages against a server on a real socket: what it makes of each kind of answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import chain, repeat

import pytest

from infra.models.chat import ChatEndpoint
from infra.models.kept import KeptLanguageModel
from schemas.space import Space
from stages.contract import Unavailable
from stages.prompts import Prompt
from streams.metrics import OTHERS, TENANTS, ModelCounts, Outcome
from tests.fakes.asked_model import AWAY, NO_USE, PROMPT, REFUSED, WELL, Mood, request
from tests.fakes.chat_server import ChatServer, Reply, said, status
from tests.fakes.results import MemoryResults

ENDLESS = {"hang", "drip-feed"}
FINE = Mood(mood="well", quotes=("fine",))


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with ChatServer() as one:
        yield one


@asynccontextmanager
async def asking(
    server: ChatServer, *replies: Reply, results: MemoryResults | None = None, **more: object
) -> AsyncIterator[KeptLanguageModel]:
    """Give a model whose endpoint answers these one after the other, and well from then on."""
    script = chain(replies, repeat(said(WELL)))
    server.asked.clear()
    server.script = lambda _asked: next(script)
    chat = ChatEndpoint(server.url, "m", **more)  # type: ignore[arg-type]
    try:
        yield KeptLanguageModel(chat, results or MemoryResults())
    finally:
        await chat.close()


def outcomes(model: KeptLanguageModel) -> dict[Outcome, int]:
    return dict(model.counts.total().outcomes)


async def test_an_answer_is_kept_and_asked_for_once(server: ChatServer) -> None:
    async with asking(server) as model:
        assert await model.ask(request()) == FINE
        assert await model.ask(request()) == FINE
        assert len(server.asked) == 1
        assert outcomes(model) == {Outcome.ANSWERED: 1, Outcome.CACHED: 1}
        use = model.counts.of("normalize", "acme")
        assert (use.calls, use.prompt_tokens, use.answer_tokens) == (1, 100, 10)
        assert use.prefix_bytes > use.data_bytes > 0


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


@pytest.mark.parametrize("name", REFUSED)
async def test_a_refusal_is_kept_and_not_asked_again(server: ChatServer, name: str) -> None:
    async with asking(server, REFUSED[name]) as model:
        assert await model.ask(request()) is None
        assert await model.ask(request()) is None
    assert len(server.asked) == 1


@pytest.mark.parametrize("name", AWAY)
async def test_no_answer_leaves_nothing_behind(server: ChatServer, name: str) -> None:
    results = MemoryResults()
    async with asking(server, AWAY[name], results=results) as model:
        assert isinstance(model.chat, ChatEndpoint)
        model.chat.timeout = 0.2 if name in ENDLESS else 30.0
        with pytest.raises(Unavailable, match=server.url):
            await model.ask(request())
        model.chat.timeout = 30.0
        assert not results.kept
        assert await model.ask(request()) == FINE
        assert outcomes(model) == {Outcome.UNAVAILABLE: 1, Outcome.ANSWERED: 1}


async def test_a_reask_without_answer_does_not_ask_the_first_again(server: ChatServer) -> None:
    async with asking(server, NO_USE["empty"], AWAY["500"]) as model:
        with pytest.raises(Unavailable):
            await model.ask(request())
        assert await model.ask(request()) == FINE
    assert [one.user == server.asked[0].user for one in server.asked] == [True, False, False]


@pytest.mark.parametrize(
    ("code", "told"),
    [(401, "ANABRANCH_MODEL_KEY"), (403, "ANABRANCH_MODEL_KEY"), (404, "ANABRANCH_LANGUAGE_MODEL")],
)
async def test_what_a_person_can_mend_is_named(server: ChatServer, code: int, told: str) -> None:
    async with asking(server, status(code)) as model:
        with pytest.raises(Unavailable, match=told):
            await model.ask(request())


async def test_no_server_is_no_answer() -> None:
    chat = ChatEndpoint("http://127.0.0.1:9", "m")
    model = KeptLanguageModel(chat, MemoryResults())
    with pytest.raises(Unavailable, match=r"127\.0\.0\.1:9 does not answer"):
        await model.ask(request())
    await chat.close()


async def test_over_the_budget_nothing_is_called(server: ChatServer) -> None:
    async with asking(server) as model:
        model.context = 500
        assert await model.ask(request("I am fine. " * 200)) is None
        assert outcomes(model) == {Outcome.OVER_BUDGET: 1}
    assert not server.asked


async def test_a_pause_is_granted_but_not_for_ever(server: ChatServer) -> None:
    async with asking(server, status(429, retry_after="3600")) as model:
        with pytest.raises(Unavailable):
            await model.ask(request())
        chat = model.chat
        assert isinstance(chat, ChatEndpoint)
        assert 0 < chat.pause_left() <= 30


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
