"""A run over the spaces of a home: what it takes, what it leaves, and what the next one finds."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

import pytest

from infra.errors import UsageError
from infra.gateway.embedded import open_served
from infra.models import HashEmbedder
from infra.nights.api import NoSuchRun, Wish
from infra.nights.night import consolidate
from infra.nights.serving import Nightly, next_after
from infra.nights.sight import AT_ONCE, Runs, seen
from infra.nights.undoing import undo
from infra.settings import Settings
from schemas.memory import ITEM_KINDS, RecordRow, Row
from schemas.space import Space
from tests.fakes.night_runs import NIGHT, Disturbed, Duplicates, ground_of, night, remembered, replayed, silent
from tests.fakes.real_home import said

MIA, BEN = Space("acme/mia"), Space("acme/ben")
AL = Space("zoo/al")
TEXTS = ("I have a cat.", "I like jazz.", "My sister lives in Oslo.")
TOLD = (*TEXTS, *TEXTS)


async def tell(ground: Disturbed, space: Space, *texts: str, first: int = 0, minutes: float = 0) -> None:
    turns = [said(f"t{first + n}", text, space, minutes=minutes + n) for n, text in enumerate(texts)]
    await ground.memory.publish(space, turns)
    await ground.memory.run()


async def standing(ground: Disturbed, space: Space) -> list[str]:
    """Return the texts of the open items."""
    live = (await seen(ground.memory.rows(space))).live
    return sorted(one.row.text for one in live if one.row.kind in ITEM_KINDS)


def found(ground: Disturbed, space: Space) -> set[str]:
    return {row.text for row in ground.memory.rows(space) if isinstance(row, RecordRow) and row.kind in ITEM_KINDS}


def without_outcomes(ground: Disturbed) -> list[str]:
    return [row for row in remembered(ground.memory.journal) if '"row":"outcome"' not in row]


async def test_what_is_said_twice_is_one_after_a_night_and_a_second_night_decides_nothing(tmp_path: Path) -> None:
    async with ground_of(tmp_path / "home") as ground:
        for space in (MIA, AL):
            await tell(ground, space, *TOLD)
        twice = await standing(ground, MIA)
        first = await night(ground)
        assert {space: len(told.decisions) for space, told in first.items()} == {MIA: 3, AL: 3}
        assert not any(told.stale for told in first.values())
        assert await standing(ground, MIA) == sorted(set(twice))
        logged = ground.memory.journal.logged()
        second = await night(ground, NIGHT + timedelta(days=1))
        assert [(told.decisions, told.events) for told in second.values()] == [([], 0)] * 2
        assert ground.memory.journal.logged() == logged
        journal = ground.memory.journal
        assert await replayed(journal, tmp_path / "again") == remembered(journal)


async def test_others_go_on_while_a_look_is_read_and_it_stays_that_of_its_moment(tmp_path: Path) -> None:
    read = most = 0

    async def others() -> None:
        nonlocal read
        while True:
            read = 0
            await asyncio.sleep(0)

    def counted(rows: Iterable[Row]) -> Iterator[Row]:
        nonlocal read, most
        for row in rows:
            read += 1
            most = max(most, read)
            yield row

    async with ground_of(tmp_path / "home") as ground:
        await tell(ground, MIA, *TOLD)
        there = [*(await ground.look()).rows(MIA)]
        look = (await ground.look()).rows(MIA)
        await tell(ground, MIA, *TEXTS, first=len(TOLD))
        assert [*look] == there
    going_on = asyncio.create_task(others())
    told = await seen(counted(there * (1 + 2 * AT_ONCE // len(there))))
    going_on.cancel()
    assert told.newest is not None
    assert most == AT_ONCE


async def test_undo_brings_back_what_a_night_took(tmp_path: Path) -> None:
    async with ground_of(tmp_path / "home") as ground:
        await tell(ground, MIA, *TOLD)
        before = await standing(ground, MIA)
        run = (await night(ground))[MIA].run
        (told,) = [one async for one in undo(ground, Wish(space=MIA), run, NIGHT, silent)]
        assert not told.stale
        assert await standing(ground, MIA) == before
        made, undone = Runs().add(await seen(ground.memory.rows(MIA)))
        assert (made.run, made.merged, made.retired, made.standing) == (run, 3, 6, 0)
        assert (undone.run, undone.restored, undone.standing) == (told.run, 6, 6)
        with pytest.raises(NoSuchRun, match=run):
            _ = [one async for one in undo(ground, Wish(space=MIA), run, NIGHT, silent)]
        with pytest.raises(UsageError, match="can't be taken back"):
            _ = [one async for one in undo(ground, Wish(space=MIA), told.run, NIGHT, silent)]
        assert await standing(ground, MIA) == before
        journal = ground.memory.journal
        assert await replayed(journal, tmp_path / "again") == remembered(journal)


async def test_a_dry_run_tells_and_does_nothing(tmp_path: Path) -> None:
    async with ground_of(tmp_path / "home") as ground:
        await tell(ground, MIA, *TOLD)
        before = remembered(ground.memory.journal)
        told = (await night(ground, wish=Wish(dry=True)))[MIA]
        assert (len(told.decisions), told.drained, told.events) == (3, True, 0)
        assert remembered(ground.memory.journal) == before
        assert ground.memory.journal.logged() == len(TOLD)
        assert ground.memory.journal.noted_under("consolidated ") == {}


async def test_a_run_takes_no_more_than_it_may_and_the_next_takes_the_rest(tmp_path: Path) -> None:
    async with ground_of(tmp_path / "home") as ground:
        await tell(ground, MIA, *TOLD)
        counts = [await night(ground, NIGHT + timedelta(days=day), Wish(most=4)) for day in range(3)]
        told = [one[MIA] for one in counts]
        assert [(len(one.decisions), one.left) for one in told] == [(2, 1), (1, 0), (0, 0)]


async def test_only_what_is_asked_for_is_looked_at(tmp_path: Path) -> None:
    decider = Duplicates()
    async with ground_of(tmp_path / "home", decider) as ground:
        for number, space in enumerate((MIA, BEN, AL)):
            await tell(ground, space, *TOLD, minutes=1440 * number)
        newest = datetime(2026, 3, 3, 9, 5, tzinfo=UTC)
        assert list(await night(ground, wish=Wish(tenant="zoo", dry=True))) == [AL]
        assert list(await night(ground, wish=Wish(space=BEN, dry=True))) == [BEN]
        assert list(await night(ground, wish=Wish(since=newest, dry=True))) == [BEN, AL]
        assert list(await night(ground, wish=Wish(since=newest + timedelta(minutes=1), dry=True))) == [AL]
        assert decider.seen == [AL, BEN, BEN, AL, AL]


async def test_working_memory_is_routed_once_where_nobody_spoke_of_late(tmp_path: Path) -> None:
    async with ground_of(tmp_path / "home") as ground:
        await tell(ground, MIA, "I have a cat.")
        await tell(ground, BEN, "I have a dog.", minutes=60 * (24 * 29 + 17))  # an hour before the night
        drained = {space: told.drained for space, told in (await night(ground)).items()}
        assert drained == {BEN: False, MIA: True}
        assert not any(one.working for one in (await seen(ground.memory.rows(MIA))).live)
        assert not (await night(ground, NIGHT + timedelta(days=1), Wish(space=MIA)))[MIA].drained
        assert (await night(ground, NIGHT + timedelta(days=1), Wish(space=BEN)))[BEN].drained


async def test_a_record_that_changed_meanwhile_makes_a_decision_stale_and_the_next_run_takes_it_up(
    tmp_path: Path,
) -> None:
    async with ground_of(tmp_path / "home") as ground:
        await tell(ground, MIA, *TOLD, "I have a cat.")
        ground.happens = lambda space: [said("t0", "I have a parrot.", space, revision=1)]
        first = (await night(ground))[MIA]
        assert [one.records[0].text for one in first.stale] == ["Mia has a cat."]
        assert len(first.decisions) == 3
        second = (await night(ground, NIGHT + timedelta(days=1)))[MIA]
        assert [(one.records[0].text, len(one.sources)) for one in second.decisions] == [("Mia has a cat.", 2)]
        assert not second.stale
        assert (await standing(ground, MIA)).count("Mia has a cat.") == 1
        assert "Mia has a parrot." in found(ground, MIA)


async def test_decisions_that_are_published_again_change_nothing(tmp_path: Path) -> None:
    """Who is killed behind its publishing may decide the same again: what it retires is retired already."""
    async with ground_of(tmp_path / "home") as ground:
        await tell(ground, MIA, *TOLD)
        await night(ground, wish=Wish(idle=timedelta(days=999)))
        once = without_outcomes(ground)
        events = [event for event in ground.memory.journal.whole_log(MIA) if event.own]
        assert events
        ground.memory.journal.append(MIA, [event.body for event in events], own=True)
        await ground.memory.run()
        assert without_outcomes(ground) == once


async def test_a_good_run_over_a_whole_tenant_is_noted(tmp_path: Path) -> None:
    async with ground_of(tmp_path / "home") as ground:
        await tell(ground, MIA, "I have a cat.")
        await night(ground, wish=Wish(space=MIA))
        await night(ground, wish=Wish(since=NIGHT))
        assert ground.memory.journal.noted_under("consolidated ") == {}
        await night(ground)
        assert ground.memory.journal.noted_under("consolidated ") == {"acme": NIGHT.isoformat()}


async def test_a_home_that_is_served_is_consolidated_where_it_is(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", embedder="hash")
    async with open_served(settings, HashEmbedder()) as served:
        await served.publish(MIA, [said(f"t{n}", text, MIA, minutes=n) for n, text in enumerate(TOLD)])
        while await served.pending():
            pass
        await served.thread.ask(Nightly(time(3)).once(served.memory, NIGHT))
        assert await served.consolidated() == {"acme": NIGHT}
        while await served.pending():
            pass
        rows = await served.reports.ask(lambda journal: list(journal.rows(MIA)))
    runs = Runs().add(await seen(rows))
    assert [(one.merged, one.retired) for one in runs] == [(3, 6)]


@pytest.mark.parametrize(
    ("now", "due"),
    [("02:59", "2026-04-01T03:00"), ("03:00", "2026-04-02T03:00"), ("23:00", "2026-04-02T03:00")],
)
def test_the_next_time_of_day_is_today_or_tomorrow(now: str, due: str) -> None:
    at = datetime.fromisoformat(f"2026-04-01T{now}+00:00")
    assert next_after(at, time(3)) == datetime.fromisoformat(f"{due}+00:00")
    assert next_after(at.astimezone(), time(3)) == datetime.fromisoformat(f"{due}+00:00")


async def test_progress_comes_to_its_end(tmp_path: Path) -> None:
    heard: list[tuple[int, int]] = []
    async with ground_of(tmp_path / "home") as ground:
        for space in (MIA, AL):
            await tell(ground, space, *TOLD)
        wish = Wish(since=datetime(2030, 1, 1, tzinfo=UTC))
        for asked in (Wish(), wish):
            heard.clear()
            _ = [
                told
                async for told in consolidate(ground, asked, NIGHT, lambda one: heard.append((one.done, one.total)))
            ]
            assert heard[-1] == (6, 6)
