"""Events into the log, many at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from infra.importers.turns import Imported
from infra.memory_api import Memory
from schemas.space import Space

_EVENTS: Final = 4096
_BYTES: Final = 16 * 1024 * 1024
"""Published at a time: each space of a batch costs one write to the disk, and memory stays small."""


def _silent(_published: int) -> None:
    """Show nothing."""


async def publish(memory: Memory, events: Iterable[Imported], told: Callable[[int], None] = _silent) -> None:
    """Append events to the log, in the order of each space; ``told`` hears after each batch how many there are.

    Raises:
        UsageError: if the events come from a file that turns out wrong; what stands before that is published.
    """
    published = 0
    for batch in _batches(events):
        by_space: defaultdict[Space, list[bytes]] = defaultdict(list)
        for event in batch:
            by_space[event.space_key].append(event.payload)
        for key, payloads in by_space.items():
            await memory.publish(key, payloads)
        published += len(batch)
        told(published)


def _batches(events: Iterable[Imported]) -> Iterator[list[Imported]]:
    batch: list[Imported] = []
    size = 0
    for event in events:
        batch.append(event)
        size += len(event.payload)
        if len(batch) >= _EVENTS or size >= _BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
