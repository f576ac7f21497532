"""The clock of the agents, and whole answers over a real socket: two rounds, an invented citation, no more time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from infra.answering import SECONDS, Answering, InTime, answering
from infra.bootstrap import open_memory
from infra.language_models import RESULTS
from infra.settings import Settings
from schemas.answer import Answer, Asked, Reason, Research
from schemas.recall import Question
from schemas.space import Space
from stages.answer import REPLY, OutOfTime
from stages.answer.shapes import PLAN
from stages.contract import Unavailable
from stages.ports import Request
from streams.metrics import ModelCounts, Outcome
from tests.fakes.agents import Agents, notes, reply
from tests.fakes.chat_server import Asked as Called
from tests.fakes.chat_server import ChatServer, Reply, hang, said, status
from tests.fakes.language_model import Scripted
from tests.fakes.real_home import said as spoken
from tests.fakes.searching import SPACE, Finds, hit, recalled

MIA = Space("acme/mia")
TURNS = [
    ("t1", "I moved to Berlin on 22 February 2026."),
    ("t2", "My cello came by train."),
    ("t3", "The floor is green."),
]
ASKED = Asked(question=Question(question="Where does Mia live, and since when?", asker="mia"), trace=True)


class Slow:
    """Implements ``LanguageModel``: it never answers."""

    model = "slow"

    async def ask(self, _request: Request[Any]) -> Any:
        await asyncio.Event().wait()


def in_time(language: Any, seconds: float) -> InTime:
    return InTime(language, asyncio.get_running_loop().time(), seconds)


async def test_a_model_that_takes_too_long_is_left() -> None:
    for prompt, part in ((PLAN, 0.035), (REPLY, 0.05)):
        began = asyncio.get_running_loop().time()
        with pytest.raises(OutOfTime, match=rf"{prompt.name} has no answer within {part:g} s of 0.05 s"):
            await in_time(Slow(), 0.05).ask(Request(SPACE, prompt, "{}"))
        assert asyncio.get_running_loop().time() - began >= part - 0.001


async def test_when_the_time_is_over_nobody_is_asked() -> None:
    model = Scripted(lambda _: {"queries": []})
    late = InTime(model, asyncio.get_running_loop().time() - 8, 10)
    assert late.model == "scripted"
    with pytest.raises(OutOfTime):
        await late.ask(Request(SPACE, PLAN, "{}"))
    assert model.asked == []
    assert await late.ask(Request(SPACE, REPLY, "{}")) is None  # the answer's time is not over


async def test_what_the_model_says_of_itself_stands() -> None:
    def away(_: object) -> object:
        msg = "no connection"
        raise Unavailable(msg)

    with pytest.raises(Unavailable, match="no connection"):
        await in_time(Scripted(away), 10).ask(Request(SPACE, PLAN, "{}"))


async def test_research_that_hangs_leaves_time_for_the_answer() -> None:
    class HangsAtPlans(Scripted):
        async def ask(self, request: Request[Any]) -> Any:
            return await (Slow().ask(request) if request.prompt is PLAN else super().ask(request))

    model = HangsAtPlans(Agents().model().say)
    found = Finds(recalled(hit("t1", "I moved to Berlin.")))
    asked = ASKED.model_copy(update={"seconds": 0.2})
    answer = await Answering(lambda: model).answer(found, SPACE, asked, found.said, 0.0)
    assert (answer.answer, answer.research) == ("yes", Research.TIME)
    assert answer.took_ms > 0


async def test_settings_say_what_an_answer_may_cost(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, embedder="hash", model_context=4096, answer_requests=3)
    async with AsyncExitStack() as stack:
        made = answering(settings, ModelCounts(), stack)
        assert (made.limits.tokens, made.limits.requests, made.seconds) == (1024, 3, SECONDS)
        assert made.language is None


def scripted(agents: Agents) -> Callable[[Called], Reply]:
    """Return a script for a server that plays both agents; what it is asked again has the fault behind its data."""
    model = agents.model(tries=1)

    def script(called: Called) -> Reply:
        prompt: Any = _Named(called.name)
        asked: Request[Any] = Request(SPACE, prompt, called.user.partition("\n")[0])
        return said(json.dumps(model.say(asked)))

    return script


class _Named:
    def __init__(self, name: str) -> None:
        self.name = name.replace("_", ".")


async def answered(server: ChatServer, home: Path, asked: Asked = ASKED, **settings: Any) -> tuple[Answer, ModelCounts]:
    """Write some turns by rules, then ask with the server's model."""
    named = Settings(home=home, embedder="hash", **settings)
    async with open_memory(named) as memory:
        await memory.publish(MIA, [spoken(turn_id, text, MIA) for turn_id, text in TURNS])
        await memory.run()
    read = named.model_copy(update={"language_model": server.setting})
    async with open_memory(read) as memory:
        return await memory.answer(MIA, asked), memory.answering._made[0].counts  # type: ignore[attr-defined]


def of(shown: Any, word: str) -> int:
    """Return the number of the piece that has a word."""
    found: int = next(piece["n"] for piece in shown["evidence"] if word in piece["text"])
    return found


async def test_two_rounds_over_a_real_socket(tmp_path: Path) -> None:
    agents = Agents(
        plan=[{"queries": ["Mia's cello"]}],
        integrate=[notes("A cello.", [1], "Which colour is the floor?", "a move to Berlin"), notes("To Berlin.", [1])],
        reply=[reply("Rome", 99), lambda data: reply("Berlin, 22 February 2026", of(data, "Berlin"))],
    )
    narrow = ASKED.model_copy(update={"question": Question(question="How did the cello come?", k=1)})
    with ChatServer(scripted(agents)) as server:
        answer, counts = await answered(server, tmp_path, narrow)
        called = [one.name for one in server.asked]
    assert answer.answer == "Berlin, 22 February 2026"
    assert [one.turn_ids for one in answer.citations] == [("t1",)]
    assert (answer.used.refused, answer.reason) == (1, None)
    assert called == [f"answer_{name}" for name in ("plan", "integrate", "integrate", "reply", "reply")]
    assert "has the number 99" in server.asked[-1].user
    assert all(one.queries for one in answer.trace if one.step.value == "search")
    use = counts.of("answer", "acme")
    assert use.calls == len(called)
    assert use.outcomes[Outcome.REASKED] == 1
    assert not (tmp_path / RESULTS).exists() or b"answer." not in (tmp_path / RESULTS).read_bytes(), (
        "reads are not kept"
    )


async def test_asked_twice_the_model_is_asked_twice(tmp_path: Path) -> None:
    with ChatServer(scripted(Agents())) as server:
        settings = Settings(home=tmp_path, embedder="hash", language_model=server.setting, answer_requests=1)
        async with open_memory(settings.model_copy(update={"language_model": None})) as memory:
            await memory.publish(MIA, [spoken(*TURNS[0], MIA)])
            await memory.run()
        async with open_memory(settings) as memory:
            for _ in range(2):
                assert (await memory.answer(MIA, ASKED)).answer == "yes"
        assert [one.name for one in server.asked] == ["answer_reply"] * 2


@pytest.mark.parametrize(
    ("way", "seconds", "reason"),
    [
        (hang, 0.3, Reason.OUT_OF_TIME),
        (status(503), 20.0, Reason.MODEL_UNAVAILABLE),
        (said("Certainly! Berlin."), 20.0, Reason.MODEL_UNUSABLE),
        (status(400), 20.0, Reason.MODEL_UNAVAILABLE),  # refused whatever its data: a person can mend that
    ],
    ids=["hangs", "away", "prose", "refuses"],
)
async def test_what_a_server_does_wrong_leaves_the_evidence(
    way: Reply, seconds: float, reason: Reason, tmp_path: Path
) -> None:
    with ChatServer(lambda _: way) as server:
        answer, _ = await answered(server, tmp_path, ASKED.model_copy(update={"seconds": seconds}))
    assert (answer.answer, answer.reason, answer.citations) == (None, reason, ())
    assert "t1" in [turn_id for hit in answer.evidence for turn_id in hit.turn_ids]
