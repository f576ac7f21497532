"""The language model of the stages when its endpoint gives no answer, or refuses one: waited for, or kept."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from infra.models.chat import ChatEndpoint
from infra.models.completion import NotNow
from infra.models.kept import KeptLanguageModel
from stages.contract import Unavailable
from streams.metrics import Outcome
from tests.fakes.asked_model import AWAY, FINE, NO_USE, REFUSED, asking, outcomes, request
from tests.fakes.chat_server import ChatServer, status
from tests.fakes.results import MemoryResults

ENDLESS = {"hang", "drip-feed"}


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with ChatServer() as one:
        yield one


@pytest.mark.parametrize("name", REFUSED)
async def test_a_refusal_is_kept_and_not_asked_again(server: ChatServer, name: str) -> None:
    async with asking(server, REFUSED[name]) as model:
        assert await model.ask(request()) is None
        assert await model.ask(request()) is None
    assert [asked.user for asked in server.asked] == ['{"turn":"I am fine."}', "{}"]


@pytest.mark.parametrize("name", REFUSED)
async def test_what_refuses_everything_is_waited_for(server: ChatServer, name: str) -> None:
    """A wrong schema or parameter is no fault of a turn, and would be kept for good."""
    results = MemoryResults()
    async with asking(server, REFUSED[name], REFUSED[name], results=results) as model:
        with pytest.raises(Unavailable, match=r"normalize\.mood whatever its data .* models check"):
            await model.ask(request())
        assert not results.kept
        assert await model.ask(request()) == FINE
        assert outcomes(model) == {Outcome.UNAVAILABLE: 1, Outcome.ANSWERED: 1}


async def test_a_refusal_is_kept_only_when_it_is_known_whose_fault_it_is(server: ChatServer) -> None:
    results = MemoryResults()
    async with asking(server, REFUSED["bad request"], AWAY["500"], results=results) as model:
        with pytest.raises(Unavailable):
            await model.ask(request())
        assert not results.kept


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


async def test_a_pause_is_granted_but_not_for_ever(server: ChatServer) -> None:
    async with asking(server, status(429, retry_after="3600")) as model:
        with pytest.raises(Unavailable):
            await model.ask(request())
        chat = model.chat
        assert isinstance(chat, ChatEndpoint)
        assert 0 < chat.pause_left() <= 30


async def test_a_pause_is_not_shortened_and_one_is_made_by_chance(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infra.models.chat.uniform", lambda _least, most: most)
    async with asking(server, status(500), status(503, retry_after="0.5")) as model:
        chat = model.chat
        assert isinstance(chat, ChatEndpoint)
        for least, most in ((0.0, 0.2), (0.3, 0.5)):
            with pytest.raises(Unavailable):
                await model.ask(request())
            assert least < chat.pause_left() <= most
        chat._rest(NotNow("full", 0.1))
        assert chat.pause_left() > 0.3
        waiting = asyncio.create_task(model.ask(request("I am fine, really.")))
        await asyncio.sleep(0)
        chat._rest(NotNow("full", 0.7))  # while it sleeps
        await waiting
        assert not chat.pause_left()
