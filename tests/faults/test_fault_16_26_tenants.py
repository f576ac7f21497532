"""Elsewhere: writes land in the wrong tenant under concurrency; one user's memory appears for another."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from infra.embedded_memory import EmbeddedMemory
from infra.memory_api import Memory
from schemas.memory import RecordKind
from schemas.recall import ContextInput, Question
from schemas.space import Space
from stages.ports import Filter
from stages.text.tokens import tokens
from tests.faults.user import SPACE, cited, cli, hits, jsonl, lived, opened, records, rows, tell, turn

SPACES = [Space(f"tenant{n % 3}/user{n}") for n in range(9)]
CANARY = {space: f"canary{ord('a') + n}{space.name}" for n, space in enumerate(SPACES)}
ASKED = "What is the secret word of the locker, and where does Mia live?"


def talk(space: Space) -> list[bytes]:
    """Return what one user tells: the same turn ids and the same words as all others, and a canary."""
    said = f"The secret word of my locker is {CANARY[space]}.", "I live in Oslo.", f"I wrote {CANARY[space]} down."
    return [turn(f"m{n}", text, space=space) for n, text in enumerate(said)]


def strangers(space: Space, text: str) -> list[str]:
    """Return the canaries of others that a text holds."""
    return [canary for other, canary in CANARY.items() if other != space and canary in text]


async def filled(memory: Memory) -> None:
    """Publish for all users at once, turn by turn, and process all spaces together."""

    async def bot(space: Space) -> None:
        for payload in talk(space):
            await memory.publish(space, [payload])
            await asyncio.sleep(0)

    await asyncio.gather(*(bot(space) for space in SPACES))
    await memory.run()


async def test_fault_16_writes_of_many_spaces_at_once_stay_in_their_own(home: Path, second: Path) -> None:
    async with opened(home) as memory:
        await filled(memory)
        for space in SPACES:
            mine = rows(memory, space)
            assert strangers(space, "".join(mine)) == []
            assert {json.loads(row)["space"] for row in mine} == {space}
            assert CANARY[space] in "".join(mine)
        alone = await lived(second, *talk(SPACES[4]), space=SPACES[4])
        assert rows(memory, SPACES[4]) == alone


async def test_fault_26_nobody_finds_what_another_said(home: Path) -> None:
    async with opened(home) as memory:
        await filled(memory)
        answers = await asyncio.gather(*(hits(memory, ASKED, space=space, k=100) for space in SPACES))
        bundles = await asyncio.gather(
            *(memory.context(space, ContextInput(text=ASKED, speaker="mia"), 2000) for space in SPACES)
        )
        for space, found, bundle in zip(SPACES, answers, bundles, strict=True):
            shown = " ".join([*(hit.text for hit in found), *(line.text for line in bundle.lines)])
            assert strangers(space, shown) == []
            assert CANARY[space] in shown
            for canary in set(CANARY.values()) - {CANARY[space]}:
                assert not any(canary in hit.text for hit in await hits(memory, canary, space=space))


async def test_fault_26_one_users_words_do_not_move_anothers_scores(home: Path, second: Path) -> None:
    async with opened(home) as crowd, opened(second) as alone:
        await filled(crowd)
        await tell(alone, *talk(SPACES[0]), space=SPACES[0])
        for memory in (crowd, alone):
            await tell(memory, turn("q", "Good night."))
        seen = [await hits(memory, ASKED, space=SPACES[0]) for memory in (crowd, alone)]
        assert [(hit.record_id, hit.score, hit.why) for hit in seen[0]] == [
            (hit.record_id, hit.score, hit.why) for hit in seen[1]
        ]


async def test_fault_26_the_store_itself_gives_no_record_of_another_space(home: Path) -> None:
    """Even to a caller who knows the ids."""
    async with opened(home) as memory:
        await filled(memory)
        assert isinstance(memory, EmbeddedMemory)
        search = memory.plane.recall.search
        ids = [row.id for row in records(memory, space=SPACES[1])]
        for stranger in (SPACES[0], Space("tenant1/nobody")):
            assert await search.fetch(stranger, 99, ids) == []
            where = Filter(stranger, 99, frozenset(RecordKind))
            assert await search.sparse(where, tokens(CANARY[SPACES[1]]), 10) == []
            near = await search.dense(where, await memory.plane.recall.embedder.embed_query(CANARY[SPACES[1]]), 99)
            assert not {match.record_id for match in near} & set(ids)


async def test_fault_16_a_turn_that_names_another_space_than_its_key_is_a_letter(home: Path) -> None:
    async with opened(home) as memory:
        await tell(memory, *talk(SPACES[1]), space=SPACES[0])
        assert records(memory, space=SPACES[0]) == records(memory, space=SPACES[1]) == []
        assert [letter.space for letter in memory.letters()] == [SPACES[0]] * 3
        assert all(SPACES[1] in letter.reason for letter in memory.letters())


@pytest.mark.parametrize(
    "command",
    [
        ("recall", "--question", "Where?"),
        ("context", "--text", "Where?"),
        ("turns",),
        ("placements",),
        ("times",),
        ("mentions",),
        ("records",),
        ("forest",),
        ("space", "inspect"),
    ],
    ids=" ".join,
)
def test_fault_26_no_command_reads_without_a_space(home: Path, command: tuple[str, ...]) -> None:
    refused = cli(home, *command)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "space" in refused.stderr.lower()
    assert not home.exists()


def test_fault_16_no_command_writes_without_a_space(home: Path, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "chat.jsonl", [b'{"turn_id": "m1", "speaker": {"id": "mia"}, "text": "hi"}'])
    refused = cli(home, "ingest", path, "--format", "jsonl")
    assert refused.exit_code == 2
    assert f"{path}:1" in refused.stderr
    assert not home.exists()


@pytest.mark.parametrize(
    "text", ["", "/", "acme", "acme/", "/mia", "acme/mia/more", "acme/*", "*/mia", "a b/c", "../x"]
)
def test_fault_26_a_space_is_a_tenant_and_a_name_or_an_error(home: Path, text: str) -> None:
    with pytest.raises(ValueError, match="tenant/space"):
        Space(text)
    assert cli(home, "recall", "--space", text, "--question", "Where?").exit_code == 2


async def test_fault_26_the_interface_has_no_call_without_a_space(home: Path) -> None:
    async with opened(home) as memory:
        calls: list[tuple[Callable[..., Any], list[Any]]] = [
            (memory.recall, [Question(question="Where?")]),
            (memory.context, [ContextInput(text="Where?"), 100]),
            (memory.publish, [[b"{}"]]),
            (memory.turns, []),
            (memory.rows, []),
            (memory.inspect, []),
            (Filter, [99, frozenset(RecordKind)]),
        ]
        for call, given in calls:
            with pytest.raises(TypeError, match="missing"):
                call(*given)


async def test_fault_26_a_space_that_nobody_wrote_to_is_empty(home: Path) -> None:
    async with opened(home) as memory:
        await filled(memory)
        assert await cited(memory, ASKED, space=SPACE) == []
        assert rows(memory) == []
