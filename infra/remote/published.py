"""What became of the events that this process published, whoever else publishes to their spaces meanwhile."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final

from aiokafka import TopicPartition

from infra.memory_api import Progress, Sums
from infra.remote.follower import Follower
from infra.remote.heads import Heads
from infra.remote.reads import Reads
from schemas.memory import OutcomeRow, OutcomeState
from schemas.space import Space
from streams.kafka.names import LETTERS
from streams.kafka.wire import inbound, space_of
from streams.topology import FIRST, FLOW, LAST

_STAGES: Final = [step.name for step in FLOW]


@dataclass
class Published:
    """The offsets of the events, and where the topics that tell of them ended before the first of each partition."""

    heads: Heads
    reads: Reads
    ends: Follower
    offsets: defaultdict[Space, list[int]] = field(default_factory=lambda: defaultdict(list))
    _since: dict[TopicPartition, int] = field(default_factory=dict)
    _goals: dict[Space, int] = field(default_factory=dict)
    _ended: set[Space] = field(default_factory=set)

    async def begin(self, space: Space) -> None:
        """Note where the topics end, before anything of a space is published."""
        layout = self.reads.layout
        topics = (layout.numbered, layout.memory, LETTERS)
        parts = [TopicPartition(topic, layout.partition(topic, space)) for topic in topics]
        fresh = [part for part in parts if part not in self._since]
        if fresh:
            self._since |= await self.ends.ends(fresh)

    async def add(self, space: Space, offsets: Sequence[int]) -> None:
        """Note events of a space that the log has acknowledged."""
        if not offsets:
            return
        self.offsets[space] += offsets
        self._ended.discard(space)
        self._goals.pop(space, None)

    async def progress(self) -> Progress:
        """Return how many have their outcome, and what is before each stage; of what ended, nothing is asked again.

        Between the first stage and memory those of others are counted as ours: there are at most W of a space.
        """
        await self.heads.catch_up(self.offsets.keys() - self._ended, _STAGES)
        done, lags = 0, Counter[str]()
        for space, offsets in self.offsets.items():
            done += len(offsets) if self._has_ended(space) else self._done(space, lags)
        return Progress(done, sum(map(len, self.offsets.values())), {name: lags[name] for name in _STAGES})

    def _has_ended(self, space: Space) -> bool:
        """Tell whether all events of a space have ended: once memory is where the first stage was with the last one."""
        if space in self._ended:
            return True
        entered = self.heads.head(FIRST.name, space)
        if entered.offset >= self.offsets[space][-1]:
            goal = self._goals.setdefault(space, entered.position)
            if self.heads.head(LAST.name, space).position >= goal:
                self._ended.add(space)
        return space in self._ended

    def _done(self, space: Space, lags: Counter[str]) -> int:
        positions = [self.heads.head(name, space).position for name in _STAGES]
        entered = bisect_right(self.offsets[space], self.heads.head(FIRST.name, space).offset)
        lags[FIRST.name] += len(self.offsets[space]) - entered
        for name, before, after in zip(_STAGES[1:], positions, positions[1:], strict=False):
            lags[name] += max(0, before - after)
        return max(0, entered - max(0, positions[0] - positions[-1]))

    async def sums(self) -> Sums:
        """Return the counts of these events: of each, what became of it itself.

        It reads what the first stage, memory and letters hold of the partitions since the first was published.
        """
        if not self.offsets:
            return Sums()
        await self.heads.catch_up(self.offsets, [FIRST.name, LAST.name])
        heads = {space: self.heads.head(FIRST.name, space).offset for space in self.offsets}
        letters, positions, outcomes = await self._alone(), await self._positions(), await self._outcomes()
        counts: Counter[OutcomeState | str] = Counter()
        for space, offsets in self.offsets.items():
            for offset in offsets:
                if (space, offset) in letters:
                    counts[OutcomeState.LETTERED] += 1
                elif (space, offset) in positions:
                    counts[outcomes.get((space, positions[space, offset]), "pending")] += 1
                else:
                    counts["duplicate" if offset <= heads[space] else "pending"] += 1
        return Sums(
            published=counts.total(),
            committed=counts[OutcomeState.COMMITTED],
            lettered=counts[OutcomeState.LETTERED],
            duplicates=counts["duplicate"],
            forgotten=counts[OutcomeState.FORGOTTEN],
            pending=counts["pending"],
        )

    async def _alone(self) -> set[tuple[str, int]]:
        """Return space and offset of the events that became letters without a position."""
        log, start = (
            self.reads.layout.log,
            {part.partition: at for part, at in self._since.items() if part.topic == LETTERS},
        )
        found = set[tuple[str, int]]()
        for partition, at in start.items():
            for letter in await self.reads.letters_of(partition, at):
                if letter.topic == log and letter.position is None:
                    found.add((letter.space, letter.offset))
        return found

    async def _positions(self) -> dict[tuple[str, int], int]:
        """Return the positions that the first stage gave, by space and offset in the log."""
        found = dict[tuple[str, int], int]()
        for part, at in self._since.items():
            if part.topic != self.reads.layout.numbered:
                continue
            async with aclosing(self.reads.log.read(part.topic, part.partition, at)) as records:
                async for record in records:
                    header = inbound(record).header
                    if header is not None and space_of(record.key) in self.offsets:
                        found[header.space, header.offset] = header.position
        return found

    async def _outcomes(self) -> dict[tuple[str, int], OutcomeState]:
        found = dict[tuple[str, int], OutcomeState]()
        for part, at in self._since.items():
            if part.topic == self.reads.layout.memory:
                rows = await self.reads.rows_of(part.partition, at, kinds={"outcome"})
                found |= {(row.space, row.position): row.state for row in rows if isinstance(row, OutcomeRow)}
        return found
