"""How a worker reads the answers of models that are kept on Kafka."""

from __future__ import annotations

from collections.abc import Iterable

from aiokafka import TopicPartition

from infra.errors import MissingError
from infra.remote.follower import Deliver, Follower
from stages.contract import Unavailable
from streams.kafka.results import Start, TopicResults


class _Waiting(Follower):
    """A follower for stages: to them a broker that is away is one that does not answer, and they wait."""

    async def ends(self, parts: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Return where partitions end now."""
        try:
            return await super().ends(parts)
        except MissingError as error:
            raise Unavailable(str(error)) from error


def topic_results(bootstrap: str) -> TopicResults:
    """Return what keeps the answers of models on a cluster, once a worker has opened it."""

    def reading(deliver: Deliver, start: Start) -> Follower:
        return _Waiting(bootstrap, deliver, start)

    return TopicResults(reading)
