"""What a worker looks like at one moment: for its status page, its metrics and its health."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from streams.kafka.gate import IndexGate
from streams.kafka.partition import Partition
from streams.kafka.worker import Worker
from streams.metrics import ModelCounts


@dataclass(frozen=True, slots=True)
class PartitionSight:
    """One partition: ``next`` is the lowest input offset that is not finished, ``expected`` the one that comes next.

    ``lag`` counts events from ``next`` to the end of the input (``None``: not known yet), ``oldest_s`` is the age of
    the first of them in seconds, if that is known. ``state_bytes`` is the size of its states on the local disk.
    """

    partition: int
    next: int
    expected: int
    waiting: int
    lag: int | None
    oldest_s: float | None
    ready: bool
    stopped: str | None
    state_bytes: int
    loaded: int

    @property
    def has_work(self) -> bool:
        """Whether it should get on: a stopped one waits for an operator, and is told of elsewhere."""
        return self.stopped is None and (not self.ready or bool(self.lag))


@dataclass(frozen=True, slots=True)
class Sight:
    """A worker. ``admitting`` lanes wait until memory is complete enough, ``unavailable`` for what does not answer.

    ``asked`` counts calls of language models and how they ended: a slow one that answers lets events wait for minutes.
    """

    partitions: tuple[PartitionSight, ...]
    handled: int
    held_bytes: int
    admitting: int
    unavailable: int
    reasons: tuple[str, ...]
    paused: bool
    asked: int = 0

    @property
    def mark(self) -> tuple[object, ...]:
        """Something that changes whenever the worker gets on."""
        return (self.handled, self.asked, tuple((one.next, one.expected, one.loaded) for one in self.partitions))

    @property
    def waits_for(self) -> list[str]:
        """Say what it waits for; standing still is no fault then."""
        said = ["an operator: the stage is paused"] if self.paused else []
        said += [f"memory: {self.admitting} spaces are a window ahead of it"] if self.admitting else []
        return [*said, *self.reasons]

    def told(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return asdict(self) | {"waits_for": self.waits_for}


def sight(worker: Worker, now: Callable[[], float]) -> Sight:
    """Look at a worker; ``now`` is the time of day in seconds since 1970."""
    shared, gate = worker.shared, worker.shared.gate
    return Sight(
        partitions=tuple(_partition(worker, one, now()) for _, one in sorted(worker.partitions.items())),
        handled=shared.metrics.handled,
        held_bytes=shared.room.used,
        admitting=gate.holding if isinstance(gate, IndexGate) else 0,
        unavailable=len(shared.waits.reasons),
        reasons=tuple(shared.waits.told()),
        paused=shared.pause.paused,
        asked=_asked(shared.metrics.models),
    )


def _asked(models: ModelCounts) -> int:
    total = models.total()
    return total.calls + sum(total.outcomes.values())


def _partition(worker: Worker, one: Partition, now: float) -> PartitionSight:
    end, reached = worker.shared.ends(one.number), one.progress
    lag = max(0, end - reached) if end is not None and (one.ready or one.stopped) else None
    oldest = one.oldest
    return PartitionSight(
        partition=one.number,
        next=reached,
        expected=one.expected,
        waiting=one.waiting,
        lag=lag,
        oldest_s=None if oldest is None else round(max(0.0, now - oldest / 1000), 1),
        ready=one.ready and one.stopped is None,
        stopped=one.stopped,
        state_bytes=one.states.size,
        loaded=one.states.rows,
    )
