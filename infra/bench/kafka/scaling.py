"""What more workers give to a stage that waits for a model at every turn."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from infra.bench.kafka.calling import CallingExtract
from infra.bench.kafka.load import Load
from infra.bench.kafka.phases import Course
from infra.bench.kafka.plant import plant
from infra.bench.kafka.warm import warm
from infra.kafka.topics import LOG_PARTITIONS
from schemas.space import Space
from streams.kafka.wire import partition_of

_TURNS: Final = 960
"""A minute of one worker: 16 turns/s at 0.5 s a call and eight calls at once."""


@dataclass(frozen=True, slots=True)
class EvenLoad(Load):
    """As many turns in each of ``partitions``, of many spaces: no worker has more to do than another.

    That is what a long run comes to; a short one would measure which partitions its few spaces fell to.
    """

    partitions: int = LOG_PARTITIONS

    def events(self) -> Iterator[tuple[Space, bytes]]:
        """Give turns of another load until every partition has its share."""
        many = 20 * self.turns
        left = Counter(dict.fromkeys(range(self.partitions), self.turns // self.partitions))
        for space, body in Load(many, many, self.seed, tenant=self.tenant).events():
            if left[number := partition_of(space, self.partitions)]:
                left[number] -= 1
                yield space, body


async def scaled(counts: Sequence[int], call: float, partitions: int) -> dict[int, float]:
    """Return turns a second for each count of workers of the calling stage, each in a plant of its own."""
    load = EvenLoad(_TURNS // partitions * partitions, _TURNS, partitions=partitions)
    rates: dict[int, float] = {}
    for count in counts:
        with tempfile.TemporaryDirectory(prefix="anabranch-") as folder:
            workers = {CallingExtract.name: count}
            with plant(Path(folder), qdrant=None, workers=workers, partitions=partitions, call=call) as it:
                await warm(it, partitions)
                rates[count] = (await Course(it.broker.bootstrap, partitions).go(load)).rate
    return rates
