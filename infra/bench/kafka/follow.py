"""Following a run: when each turn has its outcome in memory, and when all have."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from schemas.memory import OutcomeRow, Row
from streams.codec import Codec, codec
from streams.topology import LAST, TURNS

_ROW: Codec[Row] = codec(Row)

_HELD_MS: Final = 200
"""How long the broker keeps a request that finds nothing; what comes to a partition in it is answered at once.

At 20, idle ones took a twentieth of two cores. A partition whose records were just taken is not in the request that is
under way: at worst its next turn is seen so much later, never earlier.
"""

now = time.perf_counter  # noqa: TID251 - a benchmark measures


def _outcome(key: bytes, value: bytes) -> str | None:
    """Return the turn whose outcome a row of memory is, if it is one."""
    space, _, name = key.decode().partition(" ")
    row = _ROW.decode(value) if name.startswith("outcome ") else None
    return f"{space} {row.event_id}" if isinstance(row, OutcomeRow) else None


@dataclass(frozen=True, slots=True)
class Chain:
    """Where turns go in and come out: the flow, or what it is measured against.

    ``ended`` names the turn (``space turn_id``) that a record's key and value end, if they end one; keys begin with
    the space.
    """

    source: str = TURNS.name
    target: str = LAST.target.name
    ended: Callable[[bytes, bytes], str | None] = _outcome


FLOW_CHAIN: Final = Chain()


@dataclass
class Follower:
    """Reads a tenant's memory as it is written. ``ended`` says when the outcome of ``space turn_id`` was seen.

    It is ``ready`` when nothing that is written from then on is missed, nor seen late.
    """

    bootstrap: str
    partitions: int
    tenant: str
    patience: float = 120.0
    chain: Chain = FLOW_CHAIN
    ended: dict[str, float] = field(default_factory=dict)
    ready: asyncio.Event = field(default_factory=asyncio.Event)

    async def until(self, count: int) -> None:
        """Read until ``count`` turns have ended, of those that end from now on.

        Raises:
            TimeoutError: if nothing more ends for ``patience`` seconds.
        """
        at: Final = [TopicPartition(self.chain.target, number) for number in range(self.partitions)]
        reader = AIOKafkaConsumer(
            bootstrap_servers=self.bootstrap, fetch_max_wait_ms=_HELD_MS, auto_offset_reset="earliest"
        )
        await reader.start()
        try:
            reader.assign(at)
            await reader.seek_to_end()
            self.ready.set()
            moved = now()
            while len(self.ended) < count:
                had = len(self.ended)
                with suppress(KafkaError):  # a broker that is being started again
                    for records in (await reader.getmany(timeout_ms=200)).values():
                        self._take(records)
                if len(self.ended) > had:
                    moved = now()
                elif now() - moved > self.patience:
                    msg = f"{count - len(self.ended)} of {count} turns have no outcome after {self.patience:.0f} s"
                    raise TimeoutError(msg)
        finally:
            await reader.stop()

    def _take(self, records: list[Any]) -> None:
        ours = f"{self.tenant}/".encode()
        for record in records:
            if record.key.startswith(ours) and (turn := self.chain.ended(record.key, record.value)):
                self.ended.setdefault(turn, now())
