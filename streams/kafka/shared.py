"""What the partitions of a worker share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from stages.ports import IndexWriter
from streams.asking import Crashes
from streams.effects import Gate
from streams.hand import Hand
from streams.kafka.effects import Topics
from streams.kafka.log import Log
from streams.kafka.pace import Pace, lanes
from streams.kafka.producing import Producing
from streams.kafka.room import Room
from streams.kafka.waiting import Pause, TellingPatience, Waits
from streams.letters import Limit
from streams.metrics import Metrics
from streams.patience import Patience
from streams.topology import FIRST, LAST, AnyNode
from streams.tracing import NoTracing, Tracing


@dataclass
class Shared:
    """A stage with all that it runs on.

    ``source`` and ``topics`` are names on the cluster; ``group`` is the consumer group; ``folder`` is for local states;
    ``repairs`` is for what lanes read once more: partitions that wait for room, which lanes give, may hold all readers
    of ``log``; ``fail`` ends the worker; ``ends`` tells where the input of a partition ends, if that is known;
    after ``reopen`` seconds a partition that stopped is tried again, and then after ever longer pauses.
    """

    node: AnyNode
    source: str
    topics: Topics
    group: str
    log: Log
    repairs: Log
    producing: Producing
    gate: Gate
    crashes: Crashes
    folder: Path
    fail: Callable[[BaseException], None]
    index: IndexWriter | None = None
    patience: Patience = field(default_factory=Patience)
    limit: Limit = field(default_factory=Limit)
    hand: Hand = field(default_factory=Hand)
    room: Room = field(default_factory=Room)
    pace: Pace = field(default_factory=lanes)
    metrics: Metrics = field(default_factory=Metrics)
    waits: Waits = field(default_factory=Waits)
    pause: Pause = field(default_factory=Pause)
    tracing: Tracing = field(default_factory=NoTracing)
    ends: Callable[[int], int | None] = lambda _partition: None
    reopen: float = 10.0

    def __post_init__(self) -> None:
        """Let what waits be told, unless the caller has a patience of its own."""
        if self.patience == Patience():
            self.patience = TellingPatience(waits=self.waits)

    @property
    def is_first(self) -> bool:
        """Whether the stage numbers events."""
        return self.node.name == FIRST.name

    @property
    def is_last(self) -> bool:
        """Whether the stage writes memory and index."""
        return self.node.name == LAST.name
