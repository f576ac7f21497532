"""Collections of a Qdrant server as a reindex sees them: opened by name, how far behind, what they are."""

from __future__ import annotations

from collections.abc import Mapping

from infra.errors import UsageError
from infra.qdrant.server import ServerIndex
from infra.qdrant.server_calls import Server
from infra.qdrant.server_roles import DECIDING, FORMER, NEXT, READING, Collection, Roles
from infra.reindex.api import Standing
from schemas.space import Space


def opened(roles: Roles, collection: Collection) -> ServerIndex:
    """Return the index in a collection, on the connection of ``roles``."""
    return ServerIndex(Server(roles.client, roles.url, collection.name), collection.manifest.dimension)


async def lag_of(index: ServerIndex, goals: Mapping[Space, int]) -> int:
    """Return how many events an index lacks of where it should be."""
    spaces = list(goals)
    found = await index.watermarks(spaces)
    return sum(max(0, goals[space] - at) for space, at in zip(spaces, found, strict=True))


async def standing_of(
    roles: Roles, role: str, one: Collection, ends: Mapping[Space, int], generation: int | None
) -> Standing:
    """Return what a collection is. One of another generation has other positions: how far it is behind is not known."""
    is_same = one.manifest.generation == generation
    return Standing(
        role=role,
        kind="vectors" if one.ends is None else "derive",
        name=one.name,
        generation=one.manifest.generation,
        model=one.manifest.model,
        dimension=one.manifest.dimension,
        embedder=one.embedder,
        behind=await lag_of(opened(roles, one), ends) if is_same else None,
    )


def must_decide(held: Mapping[str, Collection]) -> dict[str, Collection]:
    """Return the collections that have roles, once there is one that commit writes.

    Raises:
        UsageError: if there is none.
    """
    if DECIDING not in held:
        msg = "there is no index yet to make another of: `anabranch worker commit` makes the first"
        raise UsageError(msg)
    return dict(held)


async def must_be_only_next(roles: Roles, held: Mapping[str, Collection]) -> None:
    """See that what is next is not read, or to be gone back to, as well: commands given at once can come to that.

    Raises:
        UsageError: if it is; then it is next no more.
    """
    entry = held[NEXT]
    for role in (READING, FORMER):
        if role in held and held[role].name == entry.name:
            await roles.move({NEXT: None})
            msg = f"{entry.name} was next and has the role {role!r} already: see `anabranch reindex status`"
            raise UsageError(msg)
