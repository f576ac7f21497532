"""What commands of a reindex on Kafka leave to each other, given in any order, at once, or killed: nothing is lost."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from infra.errors import UsageError
from infra.index import open_index, roles_of
from infra.models import HashEmbedder
from infra.qdrant.server import ServerIndex
from infra.qdrant.server_roles import DECIDING, FORMER, NEXT, READING
from infra.reindex import kafka as reindexing
from infra.reindex import nearness
from infra.reindex.api import NotReady
from infra.settings import Settings
from schemas.committed import Committed
from tests.fakes.committing import Committing, committing, silent, told
from tests.fakes.qdrant_server import mortal

__all__ = ["committing", "mortal", "told"]

A, B, C = "hash:512", "hash:256", "hash:128"
MODELS = {name: HashEmbedder(int(name.partition(":")[2])).model for name in (A, B, C)}


class Killed(Exception):  # noqa: N818 - a marker
    """The process ends here."""


async def built(committing: Committing, embedder: str, *, switch: bool) -> None:
    """Give the command of an embedder, and switch."""
    await committing.reindex(embedder).vectors(silent)
    if switch:
        await committing.reindex(embedder).switch(silent)


async def models(committing: Committing) -> dict[str, str]:
    """Return the model of each role."""
    async with roles_of(committing.settings) as roles:
        return {role: one.manifest.model for role, one in (await roles.held()).items()}


async def collections(committing: Committing) -> set[str]:
    """Return the names of all collections."""
    async with roles_of(committing.settings) as roles:
        return {one.name for one in (await roles.client.get_collections()).collections}


def snapshots(committing: Committing) -> set[str]:
    """Return the collections that have a snapshot's file."""
    return {path.stem for path in (committing.settings.home / "reindex").glob("*.sqlite")}


async def test_what_was_read_before_is_gone_back_to_and_never_next_as_well(
    committing: Committing, told: list[Committed], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearness, "_NEAR_S", 0.3)
    await committing.commit(told[:6])
    for embedder in (A, B):
        await built(committing, embedder, switch=True)
    there = await collections(committing)
    await committing.commit(told[6:8])  # and nobody follows
    with pytest.raises(NotReady, match="2 events behind: `ANABRANCH_EMBEDDER=hash:512 anabranch reindex --vectors`"):
        await committing.reindex(A).rollback(silent)
    assert (await models(committing))[READING] == MODELS[B]
    await built(committing, A, switch=False)  # brings it on, and makes nothing
    with pytest.raises(NotReady, match="rollback` reads"):
        await committing.reindex(A).switch(silent)
    with pytest.raises(UsageError, match="nothing to abandon"):
        await committing.reindex(A).abandon()
    assert await collections(committing) == there
    assert (await committing.reindex(A).rollback(silent)).model == MODELS[A]
    assert (await models(committing))[NEXT] == MODELS[B]


@pytest.mark.parametrize("role", [READING, FORMER])
async def test_what_came_to_be_next_too_loses_only_that(
    committing: Committing, told: list[Committed], role: str
) -> None:
    await committing.commit(told[:6])
    for embedder in (A, B):
        await built(committing, embedder, switch=True)
    there, before = await collections(committing), await models(committing)
    for act in (committing.reindex().switch(silent), committing.reindex().abandon()):
        async with roles_of(committing.settings) as roles:
            await roles.move({NEXT: (await roles.names())[role]})
        with pytest.raises(UsageError, match=f"the role '{role}' already"):
            await act
        assert (await collections(committing), await models(committing)) == (there, before)


async def test_a_third_index_takes_the_place_of_the_former_with_its_file(
    committing: Committing, told: list[Committed]
) -> None:
    await committing.commit(told[:6])
    for embedder in (A, B, C):
        await built(committing, embedder, switch=True)
    assert set((await models(committing)).values()) == {MODELS[B], MODELS[C], "hash@2"}
    assert len(await collections(committing)) == 3
    assert snapshots(committing) == await collections(committing) - {await deciding(committing)}


async def deciding(committing: Committing) -> str:
    async with roles_of(committing.settings) as roles:
        return (await roles.names())[DECIDING]


async def test_an_index_without_a_role_is_removed_by_the_next_command(
    committing: Committing, told: list[Committed]
) -> None:
    await committing.commit(told[:6])
    before = await collections(committing)
    await built(committing, A, switch=False)
    async with roles_of(committing.settings) as roles:
        left = (await roles.names())[NEXT]
        await roles.move({NEXT: None})  # as one that is killed before it names it, or after a switch
    await built(committing, B, switch=False)
    assert left not in await collections(committing) | snapshots(committing)
    async with roles_of(committing.settings) as roles:
        await roles.move({FORMER: (await roles.names())[NEXT], NEXT: None})
        with pytest.raises(UsageError, match="nothing to abandon"):
            await committing.reindex().abandon()  # any alias keeps it
        await roles.move({FORMER: None})
    gone = await committing.reindex().abandon()
    assert (gone.role, gone.model) == ("left", MODELS[B])
    assert await collections(committing) == before
    assert snapshots(committing) == set()


async def test_a_switch_while_an_index_is_opened_does_not_end_the_command(
    committing: Committing, told: list[Committed], monkeypatch: pytest.MonkeyPatch
) -> None:
    await committing.commit(told[:6])

    async def opened(*args: object, **named: object) -> ServerIndex:
        index = await open_index(*args, **named)  # type: ignore[arg-type]
        async with roles_of(committing.settings) as roles:
            held = await roles.names()
            await roles.move({READING: held[NEXT], FORMER: held[DECIDING], NEXT: None})
        return index

    monkeypatch.setattr(reindexing, "open_index", opened)
    await committing.reindex(A).vectors(silent)
    status = {one.role: one for one in await committing.reindex().status()}
    assert (status[READING].model, status[READING].behind) == (MODELS[A], 0)


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The generations that ``--derive`` was about to make the topics of when it was killed."""
    numbers: list[int] = []

    def dies(settings: Settings, _partitions: int | None) -> None:
        numbers.append(settings.generation)
        raise Killed

    monkeypatch.setattr(reindexing, "make_topics", dies)
    return numbers


async def killed(committing: Committing, embedder: str = "hash") -> None:
    with pytest.raises(Killed):
        await committing.reindex(embedder).derive(None, silent)


async def test_a_generation_whose_beginning_was_killed_is_found_again(committing: Committing, begun: list[int]) -> None:
    before = await collections(committing)
    await killed(committing)
    await killed(committing)
    assert len(set(begun)) == 1
    assert len(await collections(committing)) == len(before) + 1
    with pytest.raises(NotReady, match="no topics yet"):
        await committing.reindex().switch(silent)
    assert (await committing.reindex().abandon()).generation == begun[0]
    assert await collections(committing) == before


async def test_the_collection_of_a_generation_that_was_killed_before_it_had_a_role_is_removed(
    committing: Committing, begun: list[int]
) -> None:
    await killed(committing)
    async with roles_of(committing.settings) as roles:
        left = (await roles.names())[NEXT]
        await roles.move({NEXT: None})
    await killed(committing, B)
    assert begun[0] == begun[1]
    assert left not in await collections(committing)
    assert (await models(committing))[NEXT] == MODELS[B]


async def test_the_generation_that_is_read_keeps_its_workers_from_the_same_command(
    committing: Committing, begun: list[int]
) -> None:
    await killed(committing)
    async with roles_of(committing.settings) as roles:
        held = await roles.names()
        await roles.move({READING: held[NEXT], FORMER: held[DECIDING], NEXT: None})  # what a switch does
    there = await collections(committing)
    await killed(committing)
    assert begun[0] == begun[1]
    assert await collections(committing) == there
    assert NEXT not in await models(committing)


async def test_nothing_is_derived_before_there_is_an_index(committing: Committing, begun: Sequence[int]) -> None:
    async with roles_of(committing.settings) as roles:
        await roles.move({DECIDING: None})
    with pytest.raises(UsageError, match="no index yet"):
        await committing.reindex("hash").derive(None, silent)
    assert not begun
