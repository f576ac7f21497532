"""The watermark of a space on a server: a point of its own, which only rises whoever writes it.

It has neither tags nor ``since`` nor vectors, so that no search, count or listing of records ever meets it.
"""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID, uuid5

from qdrant_client.models import PointsList, PointStruct, UpdateOperation, UpsertOperation

from infra.qdrant.server_conditions import below
from schemas.space import Space

_NAMESPACE: Final = UUID("c2b6a0de-5d0f-5c43-8e0d-7d1f3f6b9a52")

FIELDS: Final = ["position"]


def watermark_id(space: Space) -> str:
    """Return the id of a space's watermark point."""
    return str(uuid5(_NAMESPACE, space))


def raised(space: Space, position: int) -> UpdateOperation:
    """Return the update that makes ``position`` the watermark unless it is as high already.

    The server judges the condition when the update's turn comes, so of two writers that race the lower one loses.
    """
    content = {"space": str(space), "kind": "watermark", "position": position}
    point = PointStruct(id=watermark_id(space), vector={}, payload=content)
    return UpsertOperation(upsert=PointsList(points=[point], update_filter=below(position)))


def position(content: dict[str, Any] | None) -> int:
    """Return the position that a watermark point's payload says, -1 of a point that is not there."""
    return int(content["position"]) if content else -1
