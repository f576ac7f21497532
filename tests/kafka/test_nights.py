"""Nights on a real broker, with five workers and a real Qdrant server: the embedded mode is the measure of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from infra.cli.app import app
from infra.cli.session import Session
from infra.errors import UsageError
from infra.gateway.remote import open_served
from infra.kafka import Cluster
from infra.memory_api import Memory
from infra.models import HashEmbedder
from infra.models.kept import KeptLanguageModel
from infra.nights.api import Decider, RunBusy, Wish
from infra.nights.events import decided
from infra.nights.kafka import KafkaGround, open_kafka_ground
from infra.nights.ownership import group_name, successes
from infra.nights.undoing import undo
from infra.reindex.kafka import KafkaReindex
from infra.remote import open_remote
from infra.settings import Settings
from schemas.memory import RecordRow, Row
from schemas.model_result import ModelResult
from schemas.space import Space
from stages.ports import Embedder, LanguageModel
from streams.codec import canonical
from tests.fakes.night_runs import NIGHT, Duplicates, ground_of, night, of_other_code, silent
from tests.fakes.real_home import said

MIA, BEN, AL = Space("acme/mia"), Space("acme/ben"), Space("zoo/al")
TEXTS = ("I have a cat.", "I like jazz.", "My sister lives in Oslo.", "I have a cat.", "I like jazz.")


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[KafkaGround]:
    async with open_kafka_ground(settings, silent) as ground:
        ground.make = Duplicates().made
        yield ground


async def told(memory: Memory) -> None:
    for space in (MIA, BEN, AL):
        await memory.publish(space, [said(f"t{n}", text, space, minutes=n) for n, text in enumerate(TEXTS)])
    await memory.run()


def rows(memory: Memory) -> list[str]:
    return [canonical(row) for space in (MIA, BEN, AL) for row in memory.rows(space)]


async def test_a_night_and_its_undoing_are_those_of_the_embedded_mode(settings: Settings, tmp_path: Path) -> None:
    async with opened(settings) as there, ground_of(tmp_path / "home") as here:
        await told(there.memory)
        await told(here.memory)
        assert rows(there.memory) == rows(here.memory)
        first, same = await night(there), await night(here)
        assert first == same
        done = {space: (len(one.decisions), len(one.stale), one.drained) for space, one in first.items()}
        assert done == dict.fromkeys((BEN, MIA, AL), (2, 0, True))
        assert rows(there.memory) == rows(here.memory)
        second = await night(there, NIGHT + timedelta(days=1))
        assert [one.events for one in second.values()] == [0, 0, 0]
        assert await successes(str(settings.kafka)) == {tenant: NIGHT + timedelta(days=1) for tenant in ("acme", "zoo")}
        async with open_served(settings) as served:
            assert set(await served.consolidated()) == {"acme", "zoo"}
        for ground in (there, here):
            undone = [one async for one in undo(ground, Wish(space=MIA), first[MIA].run, NIGHT, silent)]
            assert [len(one.stale) for one in undone] == [0]
        assert rows(there.memory) == rows(here.memory)


async def test_a_tenant_that_is_held_is_refused_and_the_others_are_done(settings: Settings) -> None:
    async with opened(settings) as ground:
        await told(ground.memory)
        at = NIGHT + timedelta(days=2)
        async with ground.held("acme") as held:
            with pytest.raises(RunBusy, match=r"acme is being consolidated already, by process \d+"):
                await night(ground, at)
            assert (await successes(str(settings.kafka)))["zoo"] == at
            session = Session(settings=lambda: settings)
            refused = await asyncio.to_thread(CliRunner().invoke, app, ["consolidate", "--tenant", "acme"], obj=session)
            assert (refused.exit_code, "already" in refused.output) == (1, True), refused.output
            await held.must_hold()
        await night(ground, at)
        assert (await successes(str(settings.kafka)))["acme"] == at


async def test_a_model_of_the_settings_keeps_its_answers_where_the_workers_do(settings: Settings) -> None:
    made: list[tuple[Embedder, LanguageModel | None]] = []

    def make(embedder: Embedder, language: LanguageModel | None) -> Decider:
        made.append((embedder, language))
        return Duplicates()

    named = settings.model_copy(update={"language_model": "openai:http://127.0.0.1:1/v1#some-model"})
    async with open_kafka_ground(named, silent) as ground:
        ground.make = make
        assert await ground.decider() is await ground.decider()
        ((embedder, language),) = made
        assert isinstance(language, KeptLanguageModel)
        assert (embedder.model, language.model) == (HashEmbedder().model, "some-model")
        answer = ModelResult(model="some-model", prompt="consolidate.judge", prompt_version=1, text="{}")
        assert await language.results.get(MIA, "a request") is None
        await language.results.keep(MIA, "a request", answer)
    async with open_kafka_ground(named, silent) as again:
        again.make = make
        await again.decider()
        language = made[-1][1]
        assert isinstance(language, KeptLanguageModel)
        assert await language.results.get(MIA, "a request") == answer


async def test_a_generation_that_is_derived_takes_up_what_it_refused(settings: Settings) -> None:
    space, own = Space("new/one"), settings.model_copy(update={"generation": 2})
    async with open_remote(settings) as memory:
        await memory.publish(space, [said(f"t{n}", text, space, minutes=n) for n, text in enumerate(TEXTS)])
        other = [body for _, body in decided(space, "2026-03-03-aaaaaaaa", "merges", [of_other_code()], NIGHT)]
        await memory.publish(space, other, own=True)
        await memory.run()
        assert merges(memory.rows(space)) == 0  # it rests on records that are not there
        work = KafkaReindex(settings)
        await work.derive(2, silent)
        async with open_remote(own, wait=False) as derived:
            made = list(derived.rows(space))
            assert merges(made) == 2
            assert made == list(memory.rows(space))  # the log is one, and here the code is the same
        with Cluster.at(str(settings.kafka)) as cluster:
            assert group_name("new", 2) in cluster.groups()
            while await left_by(work):  # noqa: ASYNC110 - the group notices in its own time
                await asyncio.sleep(0.5)
            assert group_name("new", 2) not in cluster.groups()


def merges(rows: Iterable[Row]) -> int:
    return sum(isinstance(row, RecordRow) and bool(row.stands_for) for row in rows)


async def left_by(work: KafkaReindex) -> bool:
    """Abandon a generation; tell whether its workers are members of their groups still."""
    try:
        await work.abandon()
    except UsageError:
        return True
    return False
