"""What the collections of a server are to a memory, by their aliases: decided on, read, next, former.

An alias moves in one request together with others, so that whoever looks finds the roles of before or of after.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final

from qdrant_client import AsyncQdrantClient
from qdrant_client.models import (
    AliasOperations,
    CreateAlias,
    CreateAliasOperation,
    DeleteAlias,
    DeleteAliasOperation,
)

from infra.qdrant.folder import Manifest
from infra.qdrant.server_answers import Refused, answered
from infra.qdrant.server_calls import WRITE_S
from infra.qdrant.server_collection import EMBEDDER, ENDS, collection_name, manifest_of

DECIDING: Final = "deciding"
READING: Final = "read"
NEXT: Final = "next"
FORMER: Final = "former"
ROLES: Final = (DECIDING, READING, NEXT, FORMER)


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection that has a role, and what it says of itself."""

    name: str
    manifest: Manifest
    embedder: str | None
    ends: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles below an alias ``base``; ``deciding`` is the alias of what a generation's commit writes.

    All methods raise ``Unavailable`` when the server does not answer, and ``ValueError`` when it refuses.
    """

    client: AsyncQdrantClient
    url: str
    base: str
    deciding: str

    def alias(self, role: str) -> str:
        """Return the alias of a role."""
        return self.deciding if role == DECIDING else f"{self.base}-{role}"

    def _answered(self) -> AbstractAsyncContextManager[None]:
        return answered(self.url, f"the indexes {self.base!r}", WRITE_S)

    async def names(self) -> dict[str, str]:
        """Return the names of the collections that have roles, by role."""
        async with self._answered():
            aliases = (await self.client.get_aliases()).aliases
        known = {self.alias(role): role for role in ROLES}
        return {known[one.alias_name]: one.collection_name for one in aliases if one.alias_name in known}

    async def describe(self, name: str) -> Collection | None:
        """Return what a collection says of itself; ``None`` of what is no index of ours."""
        async with self._answered():
            metadata = (await self.client.get_collection(name)).config.metadata
        manifest = manifest_of(metadata)
        if metadata is None or manifest is None:
            return None
        ends = metadata.get(ENDS)
        return Collection(name, manifest, metadata.get(EMBEDDER), None if ends is None else tuple(ends))

    async def held(self) -> dict[str, Collection]:
        """Return the collections that have roles, by role."""
        found = {role: await self.describe(name) for role, name in (await self.names()).items()}
        return {role: one for role, one in found.items() if one is not None}

    async def nameless(self) -> list[Collection]:
        """Return the indexes of ours that no alias names, of whatever generation."""
        async with self._answered():
            names = [one.name for one in (await self.client.get_collections()).collections]
        found = [await self._of_ours(name) for name in names if name.startswith(f"{self.base}-g")]
        async with self._answered():  # after all else: one that was made and named meanwhile has an alias by now
            named = {one.collection_name for one in (await self.client.get_aliases()).aliases}
        return [one for one in found if one is not None and one.name not in named]

    async def _of_ours(self, name: str) -> Collection | None:
        try:
            one = await self.describe(name)
        except Refused:  # it was removed meanwhile
            return None
        return one if one is not None and one.name == collection_name(self.base, one.manifest) else None

    async def move(self, roles: Mapping[str, str | None]) -> None:
        """Give roles to collections, or to none, all at once."""
        there = await self.names()
        steps: list[AliasOperations] = [
            DeleteAliasOperation(delete_alias=DeleteAlias(alias_name=self.alias(role)))
            for role in roles
            if role in there
        ]
        steps += [
            CreateAliasOperation(create_alias=CreateAlias(collection_name=name, alias_name=self.alias(role)))
            for role, name in roles.items()
            if name is not None
        ]
        async with self._answered():
            await self.client.update_collection_aliases(steps)

    async def remove(self, name: str) -> None:
        """Remove a collection, with every alias that it has."""
        async with self._answered():
            await self.client.delete_collection(name)
