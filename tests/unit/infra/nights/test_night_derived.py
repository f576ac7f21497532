"""A memory derived anew takes up what it refused of the nights in its log; without nights it stays as it was."""

from __future__ import annotations

from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

from infra.bootstrap import open_embedded
from infra.embedded_memory import EmbeddedMemory
from infra.nights.events import decided
from infra.nights.sight import seen
from infra.reindex.embedded import EmbeddedReindex
from infra.reindex.homes import journal_of
from infra.settings import Settings
from schemas.memory import ITEM_KINDS
from schemas.space import Space
from streams.journal import Journal
from tests.fakes.night_runs import NIGHT, ground_of, night, of_other_code, remembered, silent
from tests.fakes.real_home import said

MIA, BEN = Space("acme/mia"), Space("acme/ben")
TEXTS = ("I have a cat.", "I like jazz.", "I have a cat.", "I like jazz.")


async def told(memory: EmbeddedMemory) -> None:
    for space in (MIA, BEN):
        await memory.publish(space, [said(f"t{n}", text, space, minutes=n) for n, text in enumerate(TEXTS)])
    await memory.run()


async def derive(settings: Settings) -> None:
    async with AsyncExitStack() as stack:
        memory = await stack.enter_async_context(open_embedded(settings))
        await EmbeddedReindex(settings, memory, stack).derive(None, silent)


async def standing(journal: Journal, space: Space) -> list[str]:
    live = (await seen(journal.rows(space))).live
    return sorted(one.row.text for one in live if one.row.kind in ITEM_KINDS)


async def test_what_was_refused_is_taken_up_where_there_was_a_night(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", embedder="hash")
    async with open_embedded(settings) as memory:
        await told(memory)
        events = [body for _, body in decided(MIA, "2026-03-03-aaaaaaaa", "merges", [of_other_code()], NIGHT)]
        await memory.publish(MIA, events, own=True)
        await memory.run()
        twice = await standing(memory.journal, MIA)
        assert len(twice) > len(set(twice))  # it was refused
    await derive(settings)
    derived = journal_of(settings.home, 2)
    assert await standing(derived, MIA) == sorted(set(twice))
    assert derived.waiting(MIA) == 0
    own = [event for event in derived.whole_log(BEN) if event.own]
    derived.close()
    assert own == []  # there never was a night in that space


async def test_without_a_night_nothing_is_added(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", embedder="hash")
    async with open_embedded(settings) as memory:
        await told(memory)
        before, logged = remembered(memory.journal), memory.journal.logged()
    await derive(settings)
    derived = journal_of(settings.home, 2)
    assert (remembered(derived), derived.logged()) == (before, logged)
    derived.close()


async def test_a_night_of_the_same_code_is_repeated_and_none_is_decided(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with ground_of(home) as ground:
        await told(ground.memory)
        await night(ground)
        await night(ground, NIGHT + timedelta(days=1))
        before, logged = remembered(ground.memory.journal), ground.memory.journal.logged()
    await derive(Settings(home=home, embedder="hash"))
    derived = journal_of(home, 2)
    assert [row for row in remembered(derived) if '"row":"closed"' in row] != []
    assert (remembered(derived), derived.logged()) == (before, logged)
    derived.close()
