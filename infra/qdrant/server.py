"""The index on a Qdrant server: any number of processes read it, and more than one may write it at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

from infra.errors import MissingError
from infra.qdrant.batch import Batch, collect
from infra.qdrant.folder import Manifest
from infra.qdrant.holding import Holding
from infra.qdrant.server_answers import Refused
from infra.qdrant.server_calls import Server, connect
from infra.qdrant.server_collection import Opening
from infra.qdrant.server_conditions import counted, watermarks
from infra.qdrant.server_reads import ServerReads
from infra.qdrant.server_watermarks import raised
from infra.qdrant.server_writing import STATE, check, requests
from schemas.committed import Committed
from schemas.space import Space
from stages.ports import Filter, Found, Match
from stages.woven import Woven

ALIAS: Final = "anabranch"
"""The name by which the index in use is known at the server."""

GRPC_PORT: Final = 6334
"""Qdrant's own default. Over REST writes and searches take about twice as long, small reads five times (measured)."""

_WRITES: Final = 16
"""Writes at once, 2 MB each as they are sent and ten times that before: hundreds of lanes write when it comes back."""


class ServerIndex:
    """``History``, ``Search`` and ``IndexWriter`` on a collection of a Qdrant server. All searches are exact.

    It answers as ``EdgeIndex`` does, number for number. An index is used from one event loop. Methods raise
    ``Unavailable`` when the server does not answer in time (5 s for a read, 30 s for a write) or after ``close``, and
    ``ValueError`` when it refuses; when it is back, the next call works.
    """

    def __init__(self, server: Server, dimension: int) -> None:
        self._server = server
        self._dimension = dimension
        self._reads = ServerReads(server, dimension)
        self._writing = asyncio.Semaphore(_WRITES)

    @classmethod
    async def open(  # noqa: PLR0913 - they say where, what and whether it may be made; all by name
        cls,
        url: str,
        *,
        generation: int,
        model: str,
        dimension: int,
        alias: str = ALIAS,
        create: bool = True,
        grpc_port: int | None = GRPC_PORT,
        api_key: str | None = None,
        family: str | None = None,
        notes: Mapping[str, Any] | None = None,
    ) -> Self:
        """Open the index behind ``alias`` at ``url`` (REST), or make one for this generation, model and dimension.

        ``dimension`` is bytes of a vector. Without ``grpc_port`` everything goes over REST. A collection that is made
        is named after ``family`` (unset: the alias), and says of itself what ``notes`` are too.

        Raises:
            IndexMismatchError: if the alias stands for another one; the message names both.
            MissingError: if there is none and ``create`` is false, or the server is too old or refuses.
            Unavailable: if the server does not answer.
        """
        client = connect(url, grpc_port=grpc_port, api_key=api_key)
        wanted = Manifest(generation=generation, model=model, dimension=dimension)
        try:
            collection = await Opening(client, url, alias, wanted, family or alias, notes or {}).collection(
                create=create
            )
        except Refused as error:
            await client.close()
            raise MissingError(str(error)) from error
        except BaseException:
            await client.close()
            raise
        return cls(Server(client, url, collection), dimension)

    @property
    def collection(self) -> str:
        """The collection that was behind the alias when this was opened; it keeps to that one."""
        return self._server.collection

    async def close(self) -> None:
        """Let go of the connections. Later calls raise ``Unavailable``."""
        await self._server.close()

    async def nearest(self, where: Filter, vectors: Sequence[bytes], limit: int) -> list[list[Found]]:
        """For each int8 vector return the ``limit`` records of greatest dot product."""
        self._server.must_be_open()
        return await self._reads.found(where, await self._reads.nearest(where, vectors, limit))

    async def lexical(self, where: Filter, queries: Sequence[Sequence[str]], limit: int) -> list[list[Found]]:
        """For each list of tokens return the ``limit`` best records by BM25."""
        self._server.must_be_open()
        return await self._reads.found(where, await self._reads.lexical(where, queries, limit))

    async def dense(self, where: Filter, vector: bytes, limit: int) -> list[Match]:
        """Return the records of greatest dot product with an int8 vector, best first."""
        self._server.must_be_open()
        return await self._reads.matched(where, (await self._reads.nearest(where, [vector], limit))[0])

    async def sparse(self, where: Filter, tokens: Sequence[str], limit: int) -> list[Match]:
        """Return the best records by BM25 over these tokens, best first."""
        self._server.must_be_open()
        return await self._reads.matched(where, (await self._reads.lexical(where, [tokens], limit))[0])

    async def matching(self, where: Filter, limit: int) -> list[Found]:
        """Return the newest ``limit`` records that the filter alone selects, ordered by (-since, id)."""
        self._server.must_be_open()
        return (await self._reads.found(where, [await self._reads.newest(where, limit)]))[0]

    async def fetch(self, space: Space, as_of: int, record_ids: Sequence[str]) -> list[Found]:
        """Return the records of these ids that exist as of ``as_of``, closed ones too, in the order asked."""
        self._server.must_be_open()
        return await self._reads.fetch(space, as_of, record_ids)

    async def edges(self, space: Space, as_of: int, record_ids: Sequence[str], limit: int) -> Woven:
        """Return the edges at these records as of a position: see ``stages.ports.Search``."""
        self._server.must_be_open()
        return await self._reads.edges(space, as_of, record_ids, limit)

    async def watermark(self, space: Space) -> int:
        """Return the last position whose records are all there (-1: none)."""
        return await self._reads.watermark(space)

    async def watermarks(self, spaces: Sequence[Space]) -> list[int]:
        """Return the watermark of each space, in order, with one request."""
        return await self._reads.watermarks(spaces)

    async def every_watermark(self) -> dict[Space, int]:
        """Return the watermark of every space that the index knows."""
        points = self._server.all("all spaces", watermarks(), ["space", "position"], [])
        payloads = [point.payload or {} async for point in points]
        return {Space(one["space"]): int(one["position"]) for one in payloads}

    async def held(self, space: Space, as_of: int) -> Holding:
        """Count the records of a space that came up to a position, closed ones too."""
        return Holding(*[await self._server.count(space, one) for one in counted(space, as_of)])

    async def write(self, space: Space, batch: Sequence[Committed]) -> None:
        """Write the rows of these events: records, closings and marks, turns last, then the watermark.

        Each step is done before the next. What is there already, from whomever, is left as it is.

        Raises:
            Unavailable: if the server does not answer; writing again finishes what was begun.
            ValueError: if a row is refused, or a closing names a record that is not there; nothing is written then.
        """
        self._server.must_be_open()
        rows = collect(space, batch, self._dimension)
        if not batch:
            return
        async with self._writing:
            await self._write(rows)

    async def _write(self, rows: Batch) -> None:
        held = await self._held(rows)
        check(rows, held)
        *before, last = requests(rows, held)  # all are made before the first is sent: a bad row writes nothing
        for updates in before:
            await self._server.update(rows.space, updates)
        await self._server.update(rows.space, [*last, raised(rows.space, rows.last)])

    async def _held(self, batch: Batch) -> dict[str, dict[str, Any]]:
        """Return the state of the batch's records that are in the index."""
        return await self._server.retrieve(batch.space, sorted(batch.records.keys() | batch.marks.keys()), STATE)
