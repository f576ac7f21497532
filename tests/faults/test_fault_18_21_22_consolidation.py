"""Elsewhere: consolidation invalidates what is true, grows the store, and archives originals before their successor."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from infra.memory_api import Memory
from schemas.consolidation import Decision
from schemas.control import Control, Drain
from schemas.memory import ITEM_KINDS, CloseCause, ClosedRow, OutcomeRow, RecordKind, RecordRow
from schemas.recall import Question
from streams.codec import canonical
from tests.fakes.nights import duplicate, persona, published, standing, topic, undone
from tests.faults.user import MIA, SPACE, START, chatter, cited, opened, rows, tell, turn

CATS = "I have two cats."
TOLD = (turn("a", CATS), turn("b", CATS, day=1), turn("c", "My sister Elin lives in Bergen.", day=2))


def night(run: str, *decisions: Decision) -> bytes:
    return published(SPACE, run, *decisions)


def drain() -> bytes:
    return canonical(Control(space=SPACE, event_id="drain:1", at=START, body=Drain())).encode()


async def decide(memory: Memory, *payloads: bytes) -> None:
    await memory.publish(SPACE, payloads, own=True)
    await memory.run()


def items(memory: Memory, word: str) -> list[RecordRow]:
    return [row for row in standing(memory.rows(SPACE), *ITEM_KINDS) if word in row.text]


def closed(memory: Memory) -> list[ClosedRow]:
    return [row for row in memory.rows(SPACE) if isinstance(row, ClosedRow)]


def standing_count(memory: Memory) -> int:
    return len(standing(memory.rows(SPACE), *ITEM_KINDS, RecordKind.STRUCTURED))


@pytest.mark.parametrize("between", [0, 80])
async def test_fault_22_no_original_is_retired_before_its_successor_can_be_found(home: Path, between: int) -> None:
    async with opened(home) as memory:
        await tell(memory, *TOLD)
        await decide(memory, drain())
        await tell(memory, *chatter(between))
        old = items(memory, "cats")
        await decide(memory, night("r1", duplicate(*old)))
        (one,) = items(memory, "cats")
        assert {(row.id, row.successor, row.cause) for row in closed(memory)} == {
            (row.id, one.id, CloseCause.MERGE) for row in old
        }
        assert one.provenance == ("a", "b")
        assert {"a", "b"} <= set(await cited(memory, "Who has two cats?"))
        found = (await memory.recall(SPACE, question("two cats"))).hits
        assert one.id in {hit.record_id for hit in found}
        assert not {row.id for row in old} & {hit.record_id for hit in found}


def question(text: str) -> Question:
    return Question(question=text)


async def test_fault_22_a_night_that_is_replayed_gives_the_same_memory(home: Path, tmp_path: Path) -> None:
    payloads: list[tuple[bool, bytes]] = [(False, one) for one in TOLD] + [(True, drain())]
    async with opened(home) as memory:
        await told_in_order(memory, payloads)
        old, sister = items(memory, "cats"), items(memory, "Elin")
        decisions = [duplicate(*old), topic("family", *sister), persona("kind", *old), duplicate(*old)]
        payloads += [(True, night("r1", *decisions)), (False, turn("a", "I have a horse.", revision=1))]
        payloads += [(False, one) for one in chatter(70)]
        await told_in_order(memory, payloads[4:])
        first = rows(memory)
    assert any('"stands_for"' in row for row in first)
    async with opened(tmp_path / "again") as again:
        await told_in_order(again, payloads, at_once=True)
        assert rows(again) == first


async def told_in_order(memory: Memory, payloads: Sequence[tuple[bool, bytes]], *, at_once: bool = False) -> None:
    for own, payload in payloads:
        await memory.publish(SPACE, [payload], own=own)
        if not at_once:
            await memory.run()
    await memory.run()


async def test_fault_21_duplicates_of_one_event_and_a_night_told_twice_do_not_grow_memory(home: Path) -> None:
    async with opened(home) as memory:
        await tell(memory, *TOLD, turn("d", CATS, day=3))
        await decide(memory, drain())
        before, old = standing_count(memory), items(memory, "cats")
        part = night("r1", duplicate(*old[:2]), duplicate(*old[:2]), duplicate(*old[1:]), topic("cats", *old[2:]))
        await decide(memory, part)
        assert standing_count(memory) == before - 1
        after = [row for row in memory.rows(SPACE) if not isinstance(row, OutcomeRow)]
        await decide(memory, part, part)
        assert [row for row in memory.rows(SPACE) if not isinstance(row, OutcomeRow)] == after


async def test_fault_18_what_changed_since_the_snapshot_stays_as_it_is(home: Path) -> None:
    async with opened(home) as memory:
        await tell(memory, turn("a", "I live in Oslo."), turn("b", "I live in Oslo.", day=1))
        await decide(memory, drain())
        snapshot = items(memory, "Oslo")
        await tell(memory, turn("b", "I live in Bergen.", day=2, revision=1))
        before = rows(memory)
        await decide(memory, night("r1", duplicate(*snapshot)))
        assert [row for row in rows(memory) if row not in before and '"outcome"' not in row] == []


@pytest.mark.parametrize("between", [0, 80])
async def test_fault_18_a_night_can_be_taken_back(home: Path, between: int) -> None:
    async with opened(home) as memory:
        await tell(memory, *TOLD)
        await decide(memory, drain())
        old = items(memory, "cats")
        await decide(memory, night("r1", duplicate(*old)))
        (one,) = items(memory, "cats")
        await tell(memory, *chatter(between))
        await decide(memory, night("undo-r1", undone(one, *old)))
        back = items(memory, "cats")
        assert [(row.text, row.provenance) for row in back] == [(row.text, row.provenance) for row in old]
        assert {"a", "b"} <= set(await cited(memory, "Who has two cats?", asker=MIA.id))
