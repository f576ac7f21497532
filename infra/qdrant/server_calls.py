"""The calls of a Qdrant server that the index is made of, with explicit time limits and failures by name."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

from qdrant_client import AsyncQdrantClient
from qdrant_client.models import Filter as ServerFilter
from qdrant_client.models import (
    QueryRequest,
    Record,
    ScoredPoint,
    SearchParams,
    UpdateOperation,
    UpdateStatus,
)

from infra.qdrant.server_answers import answered
from infra.qdrant.shard import DENSE
from schemas.space import Space
from stages.contract import Unavailable

READ_S: Final = 5.0
WRITE_S: Final = 30.0
_PAGE: Final = 250
"""Points read at once where all of a space are wanted: the client unpacks a page in one go, while nothing else runs."""

_CHANNEL: Final = {
    # A server that comes back must be found at once: by default a channel waits up to two minutes to look again.
    "grpc.initial_reconnect_backoff_ms": 100,
    # This one is how long a connection may take to be made, at least: a busy machine needs more than a moment.
    "grpc.min_reconnect_backoff_ms": 2000,
    "grpc.max_reconnect_backoff_ms": 1000,
    # A machine that vanishes closes no connection: without a ping the channel would trust it for a quarter of an hour.
    "grpc.keepalive_time_ms": 10_000,
    "grpc.keepalive_timeout_ms": 5_000,
}


def connect(url: str, *, grpc_port: int | None, api_key: str | None) -> AsyncQdrantClient:
    """Return a client of the server at ``url`` (its REST address); without a gRPC port it speaks REST only.

    Nothing is asked yet. It belongs to the event loop that first uses it.
    """
    return AsyncQdrantClient(
        url=url,
        grpc_port=grpc_port or 0,
        prefer_grpc=grpc_port is not None,
        api_key=api_key,
        timeout=int(WRITE_S),
        grpc_options=dict(_CHANNEL),
        check_compatibility=False,  # it asks in a thread and only warns; opening checks the version itself
    )


class Server:
    """A collection of a server. Each method takes the space that is asked about, for what it says when it fails.

    All methods raise ``Unavailable`` when the server does not answer or after ``close``, and ``ValueError`` when it
    refuses.
    """

    def __init__(self, client: AsyncQdrantClient, url: str, collection: str) -> None:
        self._client = client
        self._url = url
        self._collection = collection
        self._is_open = True

    @property
    def collection(self) -> str:
        """The collection's name."""
        return self._collection

    async def close(self) -> None:
        """Let go of the connections."""
        self._is_open = False
        await self._client.close()

    def must_be_open(self) -> None:
        """Check that it was not closed."""
        if not self._is_open:
            msg = f"the index at {self._url} is closed"
            raise Unavailable(msg)

    async def nearest(
        self, space: Space, where: ServerFilter, vectors: Sequence[list[float]], limit: int
    ) -> list[list[ScoredPoint]]:
        """Return the ``limit`` points of greatest dot product for each vector, best first; exact."""
        self.must_be_open()
        exact = SearchParams(exact=True)
        requests = [
            QueryRequest(query=vector, using=DENSE, filter=where, params=exact, limit=limit, with_payload=None)
            for vector in vectors
        ]
        if not requests:
            return []
        async with answered(self._url, space, READ_S):
            answers = await self._client.query_batch_points(self._collection, requests)
        return [answer.points for answer in answers]

    async def all(
        self, about: str, where: ServerFilter, fields: list[str], vectors: list[str]
    ) -> AsyncIterator[Record]:
        """Yield all points of a filter with these payload fields and vectors."""
        self.must_be_open()
        offset: Any = None
        while True:
            async with answered(self._url, about, READ_S):
                points, offset = await self._client.scroll(
                    self._collection,
                    scroll_filter=where,
                    limit=_PAGE,
                    offset=offset,
                    with_payload=fields,
                    with_vectors=vectors,
                )
            for point in points:
                yield point
            if offset is None:
                return

    async def count(self, space: Space, where: ServerFilter) -> int:
        """Return how many points a filter selects; exact."""
        self.must_be_open()
        async with answered(self._url, space, WRITE_S):
            return (await self._client.count(self._collection, count_filter=where, exact=True)).count

    async def retrieve(self, about: str, ids: Sequence[str], fields: list[str]) -> dict[str, dict[str, Any]]:
        """Return these payload fields of the points that exist, by id."""
        self.must_be_open()
        if not ids:
            return {}
        async with answered(self._url, about, READ_S):
            points = await self._client.retrieve(self._collection, list(ids), with_payload=fields)
        return {str(point.id): point.payload or {} for point in points}

    async def update(self, space: Space, operations: Sequence[UpdateOperation]) -> None:
        """Apply updates in their order, each before the next one; what was refused ends the rest (both measured)."""
        self.must_be_open()
        if not operations:
            return
        async with answered(self._url, space, WRITE_S):
            results = await self._client.batch_update_points(self._collection, operations, wait=True)
        if any(result.status is not UpdateStatus.COMPLETED for result in results):
            msg = f"{space}: the Qdrant server at {self._url} took an update in without finishing it"
            raise Unavailable(msg)
