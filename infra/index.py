"""The indexes of the Kafka mode, as the settings name their server: what commit writes, and what recall reads."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from infra.errors import UsageError
from infra.qdrant.server import ALIAS, ServerIndex
from infra.qdrant.server_calls import connect
from infra.qdrant.server_collection import EMBEDDER
from infra.qdrant.server_roles import DECIDING, READING, Collection, Roles
from infra.settings import Settings
from stages.ports import Embedder
from streams.kafka.names import topic_name


def server_named(settings: Settings) -> str:
    """Return the server's address.

    Raises:
        UsageError: if the settings name none.
    """
    if settings.qdrant_url is None:
        msg = "the Kafka mode keeps its index on a Qdrant server: name it in ANABRANCH_QDRANT_URL"
        raise UsageError(msg)
    return settings.qdrant_url


def _server(settings: Settings) -> dict[str, Any]:
    key = settings.qdrant_api_key
    return {"grpc_port": settings.qdrant_grpc_port, "api_key": None if key is None else key.get_secret_value()}


async def open_index(
    settings: Settings,
    embedder: Embedder,
    *,
    create: bool,
    role: str | None = None,
    notes: Mapping[str, Any] | None = None,
) -> ServerIndex:
    """Open the index that workers write, or the one of a role; with ``create`` it is made if it is not there.

    ``embedder`` is the one that the settings name; what is made says so, and ``notes``.

    Raises:
        UsageError: if no server is named, or its index is of another model.
        MissingError: if it has none, or refuses.
        Unavailable: if it does not answer.
    """
    return await ServerIndex.open(
        server_named(settings),
        generation=settings.generation,
        model=embedder.model,
        dimension=embedder.dimension,
        alias=deciding_alias(settings.generation) if role is None else f"{ALIAS}-{role}",
        create=create,
        family=ALIAS,
        notes={EMBEDDER: settings.embedder, **(notes or {})},
        **_server(settings),
    )


def deciding_alias(generation: int) -> str:
    """Return the alias of the index that the stages of a generation read and its commit writes."""
    return topic_name(ALIAS, generation)


@asynccontextmanager
async def roles_of(settings: Settings) -> AsyncIterator[Roles]:
    """Give the roles of the server's collections inside the block."""
    url = server_named(settings)
    client = connect(url, **_server(settings))
    try:
        yield Roles(client, url, ALIAS, deciding_alias(settings.generation))
    finally:
        await client.close()


@dataclass(frozen=True, slots=True)
class Readable:
    """What recall reads. ``deciding`` is what commit writes, where that is another one."""

    role: str | None
    deciding: Collection | None


async def readable(settings: Settings) -> Readable:
    """Look which index recall reads now.

    Raises:
        UsageError: if no server is named, or what is read is of another generation.
        Unavailable: if it does not answer.
    """
    async with roles_of(settings) as roles:
        held = await roles.held()
    read, deciding = held.get(READING), held.get(DECIDING)
    if read is None:
        return Readable(None, None)
    if read.manifest.generation != settings.generation:
        number = read.manifest.generation
        msg = (
            f"recall reads generation {number} at {settings.qdrant_url}, and the settings ask for "
            f"{settings.generation}: set ANABRANCH_GENERATION={number}"
        )
        raise UsageError(msg)
    is_own = deciding is not None and read.name == deciding.name
    return Readable(None, None) if is_own else Readable(READING, deciding)


def setting_of(deciding: Collection) -> str:
    """Return the setting of the embedder of the stages.

    Raises:
        UsageError: if the collection was made by a version that did not note it.
    """
    if deciding.embedder is None:
        msg = f"the collection {deciding.name} does not say which ANABRANCH_EMBEDDER {deciding.manifest.model} was"
        raise UsageError(msg)
    return deciding.embedder
