"""Events come into the log in batches that keep the order of each space."""

from __future__ import annotations

from infra.importers import Imported, publish
from schemas.space import Space
from tests.fakes.memory import FakeMemory

MIA, BEN = Space("acme/mia"), Space("acme/ben")


async def test_spaces_that_take_turns_keep_their_order_over_batches() -> None:
    memory, told = FakeMemory(), list[int]()
    events = [Imported((MIA, BEN)[n % 2], str(n).encode(), "here") for n in range(10_000)]
    await publish(memory, events, told.append)
    assert told == [4096, 8192, 10_000]
    for first, space in enumerate((MIA, BEN)):
        assert [int(body) for key, body in memory.log if key == space] == list(range(first, 10_000, 2))


async def test_large_events_make_smaller_batches() -> None:
    told = list[int]()
    await publish(FakeMemory(), [Imported(MIA, bytes(9 << 20), "here") for _ in range(5)], told.append)
    assert told == [2, 4, 5]
