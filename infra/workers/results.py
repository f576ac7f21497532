"""How a worker reads the answers of models that are kept on Kafka."""

from __future__ import annotations

from typing import Any, Final

from aiokafka.errors import ConsumerStoppedError

from infra.errors import MissingError
from infra.remote.follower import Deliver, Follower
from stages.contract import Unavailable
from streams.kafka.results import Start, TopicResults

_CLOSED: Final = "what reads the answers of models was let go; another one is begun"


class _Waiting(Follower):
    """A follower for stages: to them a broker that is away is one that does not answer, and they wait.

    Several lanes share it. One may close it while others wait for their turn: they ask again, by another one.
    """

    _is_closed = False

    async def close(self) -> None:
        """Let go of the connection, once nobody reads."""
        async with self._lock:
            self._is_closed = True
            await super().close()

    async def _told(self, work: Any) -> Any:  # noqa: ANN401 - as the base class; inside the lock
        if self._is_closed:
            work.close()
            raise Unavailable(_CLOSED)
        try:
            return await super()._told(work)
        except MissingError as error:
            raise Unavailable(str(error)) from error
        except ConsumerStoppedError as error:
            raise Unavailable(_CLOSED) from error


def topic_results(bootstrap: str) -> TopicResults:
    """Return what keeps the answers of models on a cluster, once a worker has opened it."""

    def reading(deliver: Deliver, start: Start) -> Follower:
        return _Waiting(bootstrap, deliver, start)

    return TopicResults(reading)
