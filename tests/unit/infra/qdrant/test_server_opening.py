"""Opening: one index for all who open it, and a refusal that says what is there and what was asked for."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from qdrant_client import AsyncQdrantClient
from qdrant_client.models import CreateAlias, CreateAliasOperation, Distance, VectorParams

from infra.errors import MissingError
from infra.qdrant import IndexMismatchError
from infra.qdrant.folder import Manifest
from infra.qdrant.process import Address
from infra.qdrant.server import ServerIndex
from infra.qdrant.server_collection import collection_name
from stages.contract import Unavailable
from tests.fakes.index_rows import event
from tests.fakes.index_suite import SIZE, A, fresh_alias, open_server

MODEL = Manifest(generation=1, model="test", dimension=SIZE)


@pytest.fixture
def alias(address: Address) -> Iterator[str]:
    with fresh_alias(address) as name:
        yield name


async def opened(address: Address, alias: str, manifest: Manifest, *, create: bool = True) -> ServerIndex:
    fields = manifest.model_dump(exclude={"layout"})
    return await ServerIndex.open(address.url, **fields, alias=alias, create=create, grpc_port=address.grpc_port)


@pytest.mark.parametrize(
    "other",
    [
        MODEL.model_copy(update={"model": "another model"}),
        MODEL.model_copy(update={"dimension": 16}),
        MODEL.model_copy(update={"generation": 2}),
    ],
    ids=["model", "dimension", "generation"],
)
async def test_another_model_dimension_or_generation_is_refused(address: Address, alias: str, other: Manifest) -> None:
    await (await opened(address, alias, MODEL)).close()
    with pytest.raises(IndexMismatchError) as refused:
        await opened(address, alias, other)
    assert str(MODEL) in str(refused.value)
    assert str(other) in str(refused.value)
    await (await opened(address, alias, MODEL)).close()


async def test_an_index_that_is_not_there_is_made_only_when_wanted(address: Address, alias: str) -> None:
    with pytest.raises(MissingError, match=alias):
        await opened(address, alias, MODEL, create=False)
    await (await opened(address, alias, MODEL)).close()
    await (await opened(address, alias, MODEL, create=False)).close()


async def test_processes_that_open_at_the_same_time_share_one_index(address: Address) -> None:
    for _ in range(3):
        with fresh_alias(address) as alias:
            together = await asyncio.gather(*(open_server(address, alias) for _ in range(6)))
            for position, index in enumerate(together):
                await index.write(A, [event(A, position)])
            assert [await index.watermark(A) for index in together] == [5] * 6
            await asyncio.gather(*(index.close() for index in together))


async def test_an_opening_that_broke_off_is_finished_by_the_next(address: Address, alias: str) -> None:
    """It died when it had made the collection, before the payload indexes and the alias."""
    name = collection_name(alias, MODEL)
    await (await opened(address, alias, MODEL)).close()
    client = AsyncQdrantClient(url=address.url, check_compatibility=False)
    whole = await client.get_collection(name)
    await client.delete_collection(name)
    await client.create_collection(
        name,
        vectors_config=whole.config.params.vectors,
        sparse_vectors_config=whole.config.params.sparse_vectors,
        metadata=whole.config.metadata,
    )
    index = await opened(address, alias, MODEL)
    assert (await client.get_collection(name)).payload_schema == whole.payload_schema
    assert sorted(whole.payload_schema) == ["since", "space", "tags", "until"]
    assert await index.watermark(A) == -1
    await index.close()
    await client.close()


async def test_a_collection_of_somebody_else_is_refused(address: Address, alias: str) -> None:
    client = AsyncQdrantClient(url=address.url, check_compatibility=False)
    await client.create_collection(f"{alias}-theirs", vectors_config=VectorParams(size=2, distance=Distance.DOT))
    naming = CreateAlias(collection_name=f"{alias}-theirs", alias_name=alias)
    await client.update_collection_aliases([CreateAliasOperation(create_alias=naming)])
    with pytest.raises(IndexMismatchError, match="of another kind"):
        await opened(address, alias, MODEL)
    await client.close()


async def test_a_name_that_is_taken_is_said(address: Address, alias: str) -> None:
    """A collection bears the name that the alias should have."""
    client = AsyncQdrantClient(url=address.url, check_compatibility=False)
    await client.create_collection(alias, vectors_config=VectorParams(size=2, distance=Distance.DOT))
    with pytest.raises(MissingError, match=f"refuses.*{alias}"):
        await opened(address, alias, MODEL)
    await client.delete_collection(alias)
    await client.delete_collection(collection_name(alias, MODEL))
    await client.close()


class _OldServer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps({"title": "an old one", "version": "1.15.4"}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


async def test_a_server_that_would_overwrite_records_is_refused() -> None:
    with HTTPServer(("127.0.0.1", 0), _OldServer) as old:
        threading.Thread(target=old.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{old.server_port}"
        with pytest.raises(MissingError, match=r"1\.15\.4.*1\.17"):
            await ServerIndex.open(url, generation=1, model="m", dimension=8, grpc_port=None)
        old.shutdown()


@pytest.mark.parametrize("grpc_port", [1, None], ids=["grpc", "rest"])
async def test_nobody_there_is_unavailable_and_names_the_address(grpc_port: int | None) -> None:
    with pytest.raises(Unavailable, match=r"http://127\.0\.0\.1:1 does not answer"):
        await ServerIndex.open("http://127.0.0.1:1", generation=1, model="m", dimension=8, grpc_port=grpc_port)
