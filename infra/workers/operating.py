"""What operators do to a stage: rows in its state topic, which its workers take up."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

from infra.errors import UsageError
from infra.workers.groups import members
from infra.workers.producer import producing
from streams.kafka.log import Log
from streams.kafka.names import FIRST_GENERATION, group_of, state_topic, topic_name
from streams.kafka.producing import Producing
from streams.kafka.wire import NEXT, REWIND, pause_row, quarantine_row, read_next, rewind_row
from streams.topology import FIRST, FLOW

_now = time.time  # noqa: TID251 - of two words of an operator the later counts


@dataclass(frozen=True, slots=True)
class Operated:
    """A stage as operators see it: its topics, and where its input begins and ends."""

    stage: str
    source: str
    state: str
    bootstrap: str
    sending: Producing

    @property
    def count(self) -> int:
        """How many partitions it has."""
        return self.sending.partitions[self.state]

    def must_have(self, partition: int) -> None:
        """Refuse a partition that is not there.

        Raises:
            UsageError: if it is not.
        """
        if partition not in range(self.count):
            msg = f"{self.stage} has no partition {partition}: they are 0 to {self.count - 1}"
            raise UsageError(msg)


@asynccontextmanager
async def operated(bootstrap: str, stage: str, generation: int = FIRST_GENERATION) -> AsyncIterator[Operated]:
    """Give a stage inside the block.

    Raises:
        MissingError: if the broker does not answer, or the topics are not there.
    """
    step = next(step for step in FLOW if step.name == stage)
    source = step.source.name if step is FIRST else topic_name(step.source.name, generation)
    state = state_topic(stage, generation)
    async with producing(bootstrap, "anabranch", [source, state]) as sending:
        yield Operated(stage, source, state, bootstrap, sending)


async def quarantine(one: Operated, partition: int, offset: int) -> None:
    """Give up an event of a stage's input: it becomes a letter unasked, and its lane goes on.

    Raises:
        UsageError: if the partition is not there, no event lies at the offset, or it is finished: given up now it would
            become a letter when its input is done again.
    """
    one.must_have(partition)
    span = await Log(one.bootstrap).span(one.source, partition)
    if not span.start <= offset < span.stop:
        msg = f"{one.source} {partition} holds offsets {span.start} to {span.stop - 1}, and {offset} is none of them"
        raise UsageError(msg)
    if offset < (finished := await _finished(one, partition)):
        msg = (
            f"{one.stage} has finished partition {partition} up to offset {finished}: nothing at {offset} is in its way"
        )
        raise UsageError(msg)
    await one.sending.send([quarantine_row(offset, one.state, partition)])


async def _finished(one: Operated, partition: int) -> int:
    """Return the offset up to which a partition's input is finished."""
    reached = 0
    async with aclosing(Log(one.bootstrap).read(one.state, partition)) as rows:
        async for row in rows:
            if row.key == REWIND:
                reached = 0
            elif row.key == NEXT and row.value is not None:
                reached = max(reached, read_next(row.value))
    return reached


async def rewind(one: Operated, partition: int | None, generation: int = FIRST_GENERATION) -> Sequence[int]:
    """Let a stage do its input again from the beginning, in one partition or all; return which.

    Positions, records and letters come out the same, and later stages know them. What operators have quarantined
    stays so.

    Raises:
        UsageError: if workers of the stage run, or the input's beginning is not there any more.
    """
    if partition is not None:
        one.must_have(partition)
    running = members(one.bootstrap, [(one.stage, group_of(one.stage, generation))])
    if running:
        names = ", ".join(member.client for member in running)
        msg = f"{one.stage} runs ({names}): end its workers, wait for their session to pass, then rewind"
        raise UsageError(msg)
    numbers = range(one.count) if partition is None else [partition]
    for number in numbers:
        span = await Log(one.bootstrap).span(one.source, number)
        if span.start > 0:
            msg = (
                f"{one.source} {number} begins at {span.start}: what came before is gone, and {one.stage} cannot do "
                f"it again. Rewind the stages before it, first {FIRST.name}, whose log is kept for ever"
            )
            raise UsageError(msg)
    await one.sending.send(rewind_row(one.state, number) for number in numbers)
    return list(numbers)


async def pause(one: Operated, *, paused: bool) -> None:
    """Pause a stage, or let it go on: its workers keep their partitions, and take nothing while it is paused."""
    at = int(_now() * 1000)
    await one.sending.send(pause_row(at, one.state, number, paused=paused) for number in range(one.count))
