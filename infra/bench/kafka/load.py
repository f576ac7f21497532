"""What many bots publish: turns of many spaces, the same for the same seed."""

from __future__ import annotations

import asyncio
import json
import random  # noqa: TID251 - seeded: the same seed makes the same load
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from aiokafka import AIOKafkaProducer

from schemas.space import Space
from streams.kafka.wire import partition_of
from streams.topology import TURNS

_SAYINGS: Final = (
    "I went to {place} with {person} last {day} and we talked about the {thing}.",
    "My {person} bought a new {thing} in {place}.",
    "Do you remember the {thing} that I mentioned on {day}?",
    "I like the {thing} from {place}, but my {person} does not.",
    "We are going to {place} next {day}.",
    "I don't play the {thing} any more, I sold it to my {person}.",
    "That sounds wonderful! How was {place}?",
    "Actually, the {thing} is blue, not green.",
)
_WORDS: Final = {
    "place": "Oslo Berlin Lisbon Kyoto Dublin Bergen Porto Ghent Turin Vienna Malmo Split".split(),
    "person": "sister brother aunt neighbour colleague teacher friend uncle cousin boss".split(),
    "thing": "cello violin kite bicycle camera novel garden recipe lamp tent kayak telescope piano map".split(),
    "day": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday week month".split(),
}
_BEGAN: Final = datetime(2026, 1, 5, 9, tzinfo=UTC)

_now = time.perf_counter  # noqa: TID251 - a load has a rate


@dataclass(frozen=True, slots=True)
class Load:
    """So many turns over so many spaces of the tenant ``tenant``."""

    turns: int
    spaces: int
    seed: int = 1
    tenant: str = "load"

    def events(self) -> Iterator[tuple[Space, bytes]]:
        """Give each turn with its space, in the order of publication."""
        chance, told = random.Random(self.seed), defaultdict[Space, int](int)  # noqa: S311 - no secret
        for _ in range(self.turns):
            space = Space(f"{self.tenant}/s{chance.randrange(self.spaces)}")
            yield space, _turn(space, told[space], chance)
            told[space] += 1


def _turn(space: Space, number: int, chance: random.Random) -> bytes:
    saying = chance.choice(_SAYINGS)
    text = saying.format(**{name: chance.choice(words) for name, words in _WORDS.items()})
    turn = {
        "space": space,
        "turn_id": f"t{number}",
        "speaker": {"id": ("mia", "ben")[number % 2], "role": "user"},
        "text": text,
        "at": (_BEGAN + timedelta(minutes=3 * number)).isoformat(),
    }
    return json.dumps(turn).encode()


async def publish(
    bootstrap: str, partitions: int, load: Load, rate: float | None = None, topic: str = TURNS.name
) -> dict[str, float]:
    """Publish a load, at ``rate`` turns a second if given, and return when each turn was sent (seconds).

    The name of a turn is ``space turn_id``.
    """
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, enable_idempotence=True, linger_ms=2)
    await producer.start()
    sent: dict[str, float] = {}
    try:
        waiting = []
        began = _now()
        for count, (space, body) in enumerate(load.events()):
            if rate is not None and (pause := began + count / rate - _now()) > 0:
                await asyncio.sleep(pause)
            sent[f"{space} {json.loads(body)['turn_id']}"] = _now()
            partition = partition_of(space, partitions)
            waiting.append(await producer.send(topic, body, key=space.encode(), partition=partition))
        await asyncio.gather(*waiting)
    finally:
        await producer.stop()
    return sent
