"""The effects of a cut on Kafka and the index, each acknowledged before the next, while the partition is ours."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from schemas.letter import Letter
from schemas.memory import RecordRow
from stages.ports import IndexWriter
from streams.codec import Codec, codec
from streams.effects import Cut
from streams.kafka.names import LETTERS
from streams.kafka.producing import Producing, RefusedWrite
from streams.kafka.states import States
from streams.kafka.wire import Sent, is_header, memory_row, outbound, state_row
from streams.metrics import Metrics
from streams.state import StateRow

_LETTER: Codec[Letter] = codec(Letter)
_log = logging.getLogger(__name__)


class Revoked(Exception):  # noqa: N818 - named for the condition; it ends a lane and is no error
    """The partition is another worker's now: nothing of the lane may be written any more."""


@dataclass(frozen=True, slots=True)
class Topics:
    """The names of what a stage writes."""

    output: str
    state: str
    letters: str = LETTERS


@dataclass(frozen=True, slots=True)
class PartitionEffects:
    """Implements ``Effects`` for one partition of one assignment.

    ``is_ours`` tells whether the assignment still stands; before each effect it must. ``finished`` hears which input
    of a space is finished.
    """

    producing: Producing
    topics: Topics
    partition: int
    states: States
    index: IndexWriter | None
    is_ours: Callable[[], bool]
    finished: Callable[[Cut], None]
    metrics: Metrics = field(default_factory=Metrics)

    def _guard(self) -> None:
        if not self.is_ours():
            self.metrics.blocked += 1
            raise Revoked

    async def outputs(self, cut: Cut) -> None:
        """Produce outputs (for the last stage: rows of memory), letters, and the changed parts of the state.

        Nobody sees the parts until a header names them, which ``state`` produces when all this is acknowledged: they go
        along because a request costs much and what is in it little.
        """
        self._guard()
        parts = self._rows(cut, (row for row in cut.state if not is_header(row)))
        await self.producing.send([*self._outputs(cut), *self._letters(cut.letters), *parts])
        self._count(cut)

    def _count(self, cut: Cut) -> None:
        self.metrics.letters += len(cut.letters)
        rows = (row for event in cut.committed for row in event.rows)
        self.metrics.degraded += sum(isinstance(row, RecordRow) and row.degraded for row in rows)
        self.metrics.refused += sum(event.refused for event in cut.committed)
        self.metrics.stale += sum(event.stale for event in cut.committed)
        for letter in cut.letters:
            reason = letter.reason.partition("\n")[0]
            told = {"event": "lettered", "letter": letter.letter_id, "space": letter.space, "partition": self.partition}
            _log.warning("%s made a letter of %r: %s", cut.stage, letter.turn_id, reason, extra=told)

    def _outputs(self, cut: Cut) -> Iterable[Sent]:
        target = self.topics.output
        partition = self.producing.partition(target, cut.space)
        if cut.committed:
            return [memory_row(row, target, partition) for event in cut.committed for row in event.rows]
        return [outbound(output, target, partition) for output in cut.outputs]

    def _letters(self, letters: Sequence[Letter]) -> Iterable[Sent]:
        for letter in letters:
            partition = self.producing.partition(self.topics.letters, letter.space)
            yield Sent(self.topics.letters, partition, letter.space.encode(), _LETTER.encode(letter))

    async def sink(self, cut: Cut) -> None:
        """Write the index."""
        self._guard()
        if self.index is not None:
            try:
                await self.index.write(cut.space, cut.committed)
            except ValueError as error:
                msg = f"the index refused what {cut.stage} writes of {cut.space!r}: {error}; see `anabranch quarantine`"
                raise RefusedWrite(msg) from error

    async def state(self, cut: Cut) -> None:
        """Produce the header that names the parts, which are acknowledged: now the state is the new one."""
        self._guard()
        await self.producing.send(self._rows(cut, (row for row in cut.state if is_header(row))))
        self._guard()
        self.states.put(cut.space, cut.state)

    def _rows(self, cut: Cut, rows: Iterable[StateRow]) -> Iterable[Sent]:
        return (state_row(cut.space, row, self.topics.state, self.partition) for row in rows)

    async def offset(self, cut: Cut) -> None:
        """Note that the space's input is finished so far; the partition row says so within a moment."""
        self._guard()
        self.finished(cut)
