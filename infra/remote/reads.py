"""What topics hold of a space, read once from the beginning of its partition: for reports, which are rarely asked.

It costs a read of the partition, with all other spaces of it: a second for some 50 MB.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Collection
from contextlib import aclosing
from dataclasses import dataclass

from infra.remote.layout import Layout
from schemas.letter import Letter
from schemas.memory import Row
from schemas.space import Space
from streams.codec import Codec, codec
from streams.effects import Inbound
from streams.kafka.log import Log
from streams.kafka.names import LETTERS
from streams.kafka.wire import Record, inbound
from streams.letters import oldest_first

_ROW: Codec[Row] = codec(Row)
_LETTER: Codec[Letter] = codec(Letter)


@dataclass(frozen=True, slots=True)
class Reads:
    """Plain reads. All raise ``Unavailable`` if the broker does not answer."""

    layout: Layout
    log: Log

    async def events(self, space: Space, start: int = 0) -> AsyncGenerator[Inbound, None]:
        """Give the events of a space from an offset of the log on, in order. Close it where it is left early."""
        key, partition = space.encode(), self.layout.partition(self.layout.log, space)
        async with aclosing(self.log.read(self.layout.log, partition, start)) as records:
            async for record in records:
                if record.key == key:
                    yield inbound(record)

    async def rows(self, space: Space, kinds: Collection[str] | None = None) -> list[Row]:
        """Return the rows of a space's memory (of some kinds of row), ordered by row kind and key."""
        return await self.rows_of(self.layout.partition(self.layout.memory, space), space=space, kinds=kinds)

    async def rows_of(
        self, partition: int, start: int = 0, *, space: Space | None = None, kinds: Collection[str] | None = None
    ) -> list[Row]:
        """Return the rows that a partition of memory holds from an offset on (of a space, of some kinds of row)."""
        found = dict[bytes, bytes]()
        async with aclosing(self.log.read(self.layout.memory, partition, start)) as records:
            async for record in records:
                of_space, _, key = (record.key or b"").partition(b" ")
                kind = key.partition(b" ")[0].decode()
                if not kind or (space is not None and of_space != space.encode()):
                    continue  # another space's, or a row of the system's own such as a heartbeat
                if kinds is None or kind in kinds:
                    _fold(found, record)
        return [_ROW.decode(value) for _, value in sorted(found.items())]

    async def letters(self, space: Space | None = None) -> list[Letter]:
        """Return the letters of a space or of all, oldest first; a letter that was written twice is one."""
        if space is not None:
            every = await self.letters_of(self.layout.partition(LETTERS, space))
            return [letter for letter in every if letter.space == space]
        async with aclosing(self.log.snapshot(LETTERS, self.layout.partitions[LETTERS])) as records:
            return await _letters(records)

    async def letters_of(self, partition: int, start: int = 0) -> list[Letter]:
        """Return the letters that a partition holds from an offset on."""
        async with aclosing(self.log.read(LETTERS, partition, start)) as records:
            return await _letters(records)


def _fold(found: dict[bytes, bytes], record: Record) -> None:
    if record.value is None:
        found.pop(record.key or b"", None)
    else:
        found[record.key or b""] = record.value


async def _letters(records: AsyncIterator[Record]) -> list[Letter]:
    found: dict[tuple[str, int, int, str], Letter] = {}
    async for record in records:
        if record.value is not None:
            letter = _LETTER.decode(record.value)
            found.setdefault((letter.topic, letter.partition, letter.offset, letter.stage), letter)
    return sorted(found.values(), key=oldest_first)
