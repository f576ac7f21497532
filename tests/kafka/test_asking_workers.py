"""A worker whose stage asks a model: its answers lie in ``model.results``, and everybody rests on the same."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from infra.bench.kafka.idle import Count, IdleCommit, IdleExtract, IdleLocalize, IdleNormalize, IdleRoute
from infra.kafka import Broker
from infra.kept_answers import kept_answers
from infra.models.kept import KeptLanguageModel
from infra.settings import Settings
from infra.workers.results import topic_results
from infra.workers.run import Running
from schemas.control import Passed
from schemas.normalized import Normalized
from schemas.numbered import Numbered
from schemas.space import Space
from stages.contract import Emit
from stages.ports import LanguageModel, Request
from stages.prompts import as_data
from streams.topology import NORMALIZED, build
from tests.fakes.asking_stage import GIST
from tests.fakes.fickle import Fickle
from tests.kafka.conftest import Named
from tests.kafka.stage_on_kafka import PARTITIONS, Stage, stage_of, turn
from tests.kafka.waiting import until

SPACES = tuple(Space(f"acme/asked-{uuid.uuid4().hex[:8]}") for _ in range(3))
"""Nobody else's, on a broker that others use too."""

TURNS = 8


@dataclass(frozen=True)
class AskingNormalize(IdleNormalize):
    """Asks about each turn, and takes the answer for its summary."""

    language: LanguageModel

    async def decide(self, message: Numbered, state: Count) -> Emit[Normalized | Passed, Count]:
        said = as_data({"id": message.header.event_id})
        gist = await self.language.ask(Request(message.header.space, GIST, said))
        outcome = await super().decide(message, state)
        assert isinstance(outcome.message, Normalized)
        z = outcome.message.z.model_copy(update={"summary": gist.word if gist else "by rules"})
        return Emit(outcome.message.model_copy(update={"z": z}), outcome.state)


@asynccontextmanager
async def asking(stage: Stage, chat: Fickle, number: int) -> AsyncIterator[Running]:
    """A worker with a copy of the answers of its own."""
    results = topic_results(stage.bootstrap)
    first = AskingNormalize(KeptLanguageModel(chat, results))
    stages = build(first, IdleLocalize(), IdleExtract(), IdleRoute(), IdleCommit())
    async with stage.works(number, stages, results) as run:
        yield run


async def summaries(stage: Stage) -> dict[str, list[str]]:
    """Return those of each space's outputs, in order."""
    found: dict[str, list[str]] = {space: [] for space in SPACES}
    async for record in stage.log.snapshot(stage.target, PARTITIONS):
        read = NORMALIZED.codec.decode(record.value or b"")
        if isinstance(read, Normalized) and read.header.space in found:
            found[read.header.space].append(read.z.summary)
    return found


async def all_there(stage: Stage) -> bool:
    return all(len(of_space) >= TURNS for of_space in (await summaries(stage)).values())


async def test_every_generation_rests_on_the_same_answers(broker: Broker | Named, tmp_path: Path) -> None:
    """The model is away at first: nothing is lettered, the worker says what it waits for."""
    bootstrap = broker.bootstrap
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    first, chat = stage_of(bootstrap, tmp_path / "one", "normalize"), Fickle(away=9)
    for space in SPACES:
        await first.publish(space, [turn(space, f"t{n}") for n in range(TURNS)])
    async with asking(first, chat, 0) as run:
        await until(lambda: any("the model is away" in said for said in run.worker.shared.waits.told()))
        await until(lambda: all_there(first))
    made, told = chat.calls, await summaries(first)
    assert made == len(SPACES) * (TURNS + 3)  # three of eight turns are asked about twice
    assert [said == "by rules" for said in told[SPACES[0]]] == [n % 3 == 0 for n in range(TURNS)]
    assert not [letter for space in SPACES for letter in await first.letters(space)]
    settings = Settings(home=tmp_path, kafka=bootstrap)
    kept = [answer.text async for answer in kept_answers(settings, SPACES[0])]
    assert len(kept) == TURNS + 3
    assert kept[:2] == ["no idea", "no idea"]
    again = stage_of(bootstrap, tmp_path / "two", "normalize")
    async with asking(again, chat, 1):
        await until(lambda: all_there(again))
    assert await summaries(again) == told
    assert chat.calls == made
