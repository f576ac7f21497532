"""The collection of a server that an index lives in: its name, its settings, what it says of itself, its alias.

A collection belongs to a generation, a model and a dimension. An alias says which one is in use. A process looks
through the alias once, when it opens the index, and then keeps to the collection that it checked: after a switch to
another model its questions, embedded by the old one, must not meet the new one's vectors.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

from qdrant_client import AsyncQdrantClient
from qdrant_client.models import (
    CreateAlias,
    CreateAliasOperation,
    Datatype,
    Distance,
    HnswConfigDiff,
    IntegerIndexParams,
    IntegerIndexType,
    KeywordIndexParams,
    KeywordIndexType,
    SparseVectorParams,
    VectorParams,
)

from infra.errors import MissingError
from infra.qdrant.folder import IndexMismatchError, Manifest
from infra.qdrant.server_answers import Refused, answered
from infra.qdrant.server_calls import WRITE_S
from infra.qdrant.shard import DENSE, SPARSE
from streams.codec import Codec, codec

_MANIFEST: Codec[Manifest] = codec(Manifest)

EMBEDDER: Final = "embedder"
"""Beside the manifest in a collection's metadata: the setting that named its model."""
ENDS: Final = "ends"
"""Likewise, of a generation that is derived: where each partition of the log ended when that began."""

_OLDEST: Final = (1, 17)
"""The first server that inserts without overwriting when asked to; an older one ignores the wish and overwrites."""

_LOOKS: Final = 100
_LOOK_S: Final = 0.05
"""Another process that makes the same collection at this moment is waited for, 5 s in all."""


def collection_name(alias: str, manifest: Manifest) -> str:
    """Return the name of the collection: readable, and another one for each generation, model and dimension."""
    digest = blake2b(manifest.model_dump_json().encode(), digest_size=6).hexdigest()
    return f"{alias}-g{manifest.generation}-d{manifest.dimension}-{digest}"


@dataclass(frozen=True, slots=True)
class Opening:
    """One opening of the index that ``alias`` stands for, which must hold what ``wanted`` says.

    All methods raise ``Unavailable`` when the server does not answer, and ``Refused`` when it refuses.
    """

    client: AsyncQdrantClient
    url: str
    alias: str
    wanted: Manifest
    family: str
    notes: Mapping[str, Any] = field(default_factory=dict)

    async def collection(self, *, create: bool) -> str:
        """Return the collection behind the alias, made if there is none and ``create`` says so.

        Processes that open at the same time come to the same one: each step may be done already.

        Raises:
            IndexMismatchError: if it holds something else; the message names both.
            MissingError: if there is none and it is not to be made, or the server is too old.
        """
        await self._check_version()
        name = await self._behind()
        if name is None:
            if not create:
                msg = f"the Qdrant server at {self.url} has no index {self.alias!r}: `anabranch worker commit` makes it"
                raise MissingError(msg)
            made = collection_name(self.family, self.wanted)
            await self._make(made)
            await self._check(made)
            await self._name(made)
            name = await self._behind() or made  # another process may have been faster, with another model
        await self._check(name)
        return name

    def _answered(self) -> AbstractAsyncContextManager[None]:
        return answered(self.url, f"index {self.alias!r}", WRITE_S)

    async def _check_version(self) -> None:
        async with self._answered():
            version = (await self.client.info()).version
        numbers = re.match(r"(\d+)\.(\d+)", version)
        if numbers is None or tuple(int(part) for part in numbers.groups()) < _OLDEST:
            oldest = ".".join(str(part) for part in _OLDEST)
            msg = f"the Qdrant server at {self.url} is version {version}: update it to {oldest} or later"
            raise MissingError(msg)

    async def _behind(self) -> str | None:
        async with self._answered():
            aliases = (await self.client.get_aliases()).aliases
        return next((known.collection_name for known in aliases if known.alias_name == self.alias), None)

    async def _check(self, name: str) -> None:
        async with self._answered():
            metadata = (await self.client.get_collection(name)).config.metadata
        held = manifest_of(metadata)
        if held != self.wanted:
            described = f"of {held}" if held else f"of another kind (it says of itself: {metadata})"
            msg = (
                f"the index {self.alias!r} at {self.url} (collection {name}) is {described}, but the settings ask for "
                f"{self.wanted}: set ANABRANCH_EMBEDDER back to what the index holds, or build another one with "
                f"`anabranch reindex --vectors`"
            )
            raise IndexMismatchError(msg)

    async def _make(self, name: str) -> None:
        """Make the collection with its payload indexes; whatever of it is there already stays."""
        try:
            async with self._answered():
                await _create(self.client, name, self.wanted, self.notes)
        except Refused:
            if not await self._is_there(name):
                raise
        async with self._answered():
            await _index(self.client, name)

    async def _is_there(self, name: str) -> bool:
        """Whether another process has made the collection, or is about to have: its name is taken before it answers."""
        for _ in range(_LOOKS):
            async with self._answered():
                if await self.client.collection_exists(name):
                    return True
            await asyncio.sleep(_LOOK_S)
        return False

    async def _name(self, collection: str) -> None:
        naming = CreateAliasOperation(create_alias=CreateAlias(collection_name=collection, alias_name=self.alias))
        async with self._answered():
            await self.client.update_collection_aliases([naming])


def manifest_of(metadata: dict[str, Any] | None) -> Manifest | None:
    """Return what a collection says that it holds, if it is an index of ours."""
    held = {name: value for name, value in (metadata or {}).items() if name not in {EMBEDDER, ENDS}}
    try:
        return _MANIFEST.adapter.validate_python(held)
    except ValueError:
        return None


async def _create(client: AsyncQdrantClient, name: str, manifest: Manifest, notes: Mapping[str, Any]) -> None:
    """Make a collection.

    No graph (m = 0), since all searches are exact. Floats of 32 bits hold the integers of an int8 vector and their dot
    products exactly. One shard: an exact search of a space is short, and a space lies in one place.
    """
    await client.create_collection(
        name,
        vectors_config={DENSE: VectorParams(size=manifest.dimension, distance=Distance.DOT, datatype=Datatype.FLOAT32)},
        sparse_vectors_config={SPARSE: SparseVectorParams()},
        shard_number=1,
        hnsw_config=HnswConfigDiff(m=0),
        metadata=manifest.model_dump() | dict(notes),
    )


async def _index(client: AsyncQdrantClient, name: str) -> None:
    """Make the payload indexes; the server takes one that is there already as done."""
    numbers = IntegerIndexParams(type=IntegerIndexType.INTEGER, lookup=False, range=True)
    wanted: dict[str, KeywordIndexParams | IntegerIndexParams] = {
        "space": KeywordIndexParams(type=KeywordIndexType.KEYWORD, is_tenant=True),
        "tags": KeywordIndexParams(type=KeywordIndexType.KEYWORD),
        "since": numbers,
        "until": numbers,
    }
    for payload_field, params in wanted.items():
        await client.create_payload_index(name, payload_field, params, wait=True)
