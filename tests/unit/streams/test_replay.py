"""Re-embedding: the same model gives the index that commit wrote; another one each text once, whatever stops it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pytest

from infra.models import HashEmbedder
from schemas.memory import ITEM_KINDS, RecordKind, RecordRow, row_key
from schemas.space import Space
from stages.contract import Unavailable
from stages.text.spoken import has_vector, searched
from streams import replay
from streams.journal import Journal
from streams.replay import Pace, Reembedding
from tests.fakes.embedder import DigestEmbedder
from tests.fakes.followed import FollowedIndex
from tests.fakes.index import MemoryIndex
from tests.fakes.nights import duplicate, persona, published, topic
from tests.fakes.real_home import SPACE, RealHome, mixed, story

OTHER = Space("acme/u-2")


@dataclass
class Home(RealHome):
    """A home with two spaces."""

    async def lived(self) -> Home:
        await self.tell(mixed())
        await self.tell(story(60, OTHER), OTHER)
        return self


@dataclass
class Source:
    journal: Journal

    def reached(self) -> Mapping[Space, int]:
        return {Space(space): at for space, at in self.journal.remembered().items()}

    def events(self, space: Space, above: int, up_to: int):  # type: ignore[no-untyped-def]  # noqa: ANN201 - a port's
        return self.journal.by_position().events(space, above, up_to)


async def test_with_the_same_model_it_writes_what_commit_wrote(tmp_path: Path) -> None:
    home = await Home(tmp_path).lived()
    assert isinstance(home.index, MemoryIndex)
    copy = FollowedIndex(MemoryIndex(HashEmbedder().dimension))
    told: list[Pace] = []
    with home.journal() as journal:
        written = await Reembedding(Source(journal), HashEmbedder(), copy).catch_up(told.append)
    assert copy.inner.records == home.index.records  # rows, vectors, closings, marks
    assert copy.inner.watermarks == home.index.watermarks
    assert written == sum(at + 1 for at in home.index.watermarks.values())
    assert told[-1] == Pace(written, written)
    assert _edges(copy.inner) == _edges(home.index) != {}


async def test_it_follows_and_asks_for_nothing_twice(tmp_path: Path) -> None:
    home = await Home(tmp_path).lived()
    embedder, copy = DigestEmbedder(48), FollowedIndex(MemoryIndex(48))
    with home.journal() as journal:
        following = Reembedding(Source(journal), embedder, copy)
        await following.catch_up()
        assert await following.lag() == 0
        before = len(embedder.calls)
        assert await following.catch_up() == 0
        assert len(embedder.calls) == before
        journal.append(SPACE, story(20, first=20))
    await home.run()
    with home.journal() as journal:
        following = Reembedding(Source(journal), embedder, copy)
        assert await following.lag() == await following.catch_up() > 0
    assert Counter(chain.from_iterable(embedder.calls)) == Counter(
        searched(row) for space in (SPACE, OTHER) for row in home.records(space) if has_vector(row)
    )


async def test_what_a_night_made_is_read_and_counted_with_its_vectors(tmp_path: Path) -> None:
    home = RealHome(tmp_path)
    await home.tell(story(12))
    items = [row for row in home.records(SPACE) if row.kind in ITEM_KINDS][:3]
    with home.journal() as journal:
        decisions = duplicate(*items[:2]), topic("all", items[2]), persona("such", items[2])
        journal.append(SPACE, [published(SPACE, "r1", *decisions)], own=True)
    await home.run()
    every = home.records(SPACE)
    made = [row for row in every if row.run is not None]
    assert {row.kind for row in made} == {items[0].kind, RecordKind.TOPIC, RecordKind.PERSONA}
    with home.journal() as journal:
        at, rows = journal.remembered()[SPACE], journal.by_position()
        (event,) = rows.events(SPACE, at - 1, at)
        assert {row_key(row) for row in event.rows} >= {row_key(row) for row in made}
        assert rows.vectors(SPACE, at) == sum(map(has_vector, every)) < rows.records(SPACE, list(RecordKind), at)
        copy = MemoryIndex(48)
        await Reembedding(Source(journal), DigestEmbedder(48), FollowedIndex(copy)).catch_up()
    kept = copy.records[SPACE]
    assert {name for name, one in kept.items() if one.vector is not None} == {r.id for r in every if has_vector(r)}
    assert [kept[row.id].successor for row in items[:2]] == [made_by(made, items[0])] * 2


def made_by(made: Sequence[RecordRow], row: RecordRow) -> str:
    return next(one.id for one in made if row.id in one.stands_for)


@pytest.mark.parametrize("writes", [0, 1, 2, 5])
async def test_what_stops_it_costs_the_batches_in_hand_and_changes_nothing(
    tmp_path: Path, writes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "BATCH", 16)
    home = await Home(tmp_path).lived()
    embedder, copy = DigestEmbedder(48), FollowedIndex(MemoryIndex(48), writes)
    with home.journal() as journal:
        with pytest.raises(Unavailable):
            await Reembedding(Source(journal), embedder, copy).catch_up()
        copy.writes = None
        await Reembedding(Source(journal), embedder, copy).catch_up()
    every = [row for space in (SPACE, OTHER) for row in home.records(space)]
    assert _rows(copy.inner) == {row.id: row for row in every}
    again = sum(map(len, embedder.calls)) - sum(map(has_vector, every))
    assert 0 < again <= 2 * (16 + 16)  # two batches, each over its size by the records of an event at most


def _rows(index: MemoryIndex) -> dict[str, RecordRow]:
    return {key: kept.row for records in index.records.values() for key, kept in records.items()}


def _edges(index: MemoryIndex) -> dict[tuple[Space, int], list[str]]:
    return {
        (space, position): sorted(row_key(edge) for edge in edges)
        for space, woven in index.woven.items()
        for position, edges in woven.items()
    }
