"""A read's filter as the server's, and the guards of its writes. There is no way to make one without a space."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from qdrant_client.models import (
    FieldCondition,
    HasIdCondition,
    HasVectorCondition,
    IsEmptyCondition,
    MatchAny,
    MatchValue,
    PayloadField,
    Range,
)
from qdrant_client.models import Filter as ServerFilter

from infra.qdrant.conditions import narrowings
from infra.qdrant.points import tag
from infra.qdrant.shard import DENSE
from schemas.memory import OPEN
from schemas.space import Space
from stages.ports import Filter

STILL_OPEN: Final = FieldCondition(key="until", range=Range(gte=OPEN))
"""The guard of a closing: what is closed stays closed where it is."""


def condition(where: Filter) -> ServerFilter:
    """Return the server's filter: all conditions of ``where`` must hold."""
    return ServerFilter(must=list(_conditions(where)))


def _conditions(where: Filter) -> Iterator[FieldCondition]:
    yield _in_space(where.space)
    yield _one_of(sorted(tag("kind", kind.value) for kind in where.kinds))
    yield FieldCondition(key="since", range=Range(lte=where.as_of))
    if not where.closed_too:
        yield FieldCondition(key="until", range=Range(gt=where.as_of))
    for tags in narrowings(where):
        yield _one_of(tags)


def _in_space(space: Space) -> FieldCondition:
    return FieldCondition(key="space", match=MatchValue(value=str(space)))


def _one_of(tags: list[str]) -> FieldCondition:
    return FieldCondition(key="tags", match=MatchAny(any=tags))


def between(space: Space, above: int, up_to: int) -> ServerFilter:
    """Return the filter of a space's records with ``above < since <= up_to``."""
    return ServerFilter(must=[_in_space(space), FieldCondition(key="since", range=Range(gt=above, lte=up_to))])


def closed_between(space: Space, above: int, up_to: int) -> ServerFilter:
    """Return the filter of a space's records that were closed with ``above < until <= up_to``."""
    return ServerFilter(must=[_in_space(space), FieldCondition(key="until", range=Range(gt=above, lte=up_to))])


def counted(space: Space, up_to: int) -> tuple[ServerFilter, ServerFilter]:
    """Return the filters of a space's records up to a position: of all, and of those that have a vector."""
    until_then = [_in_space(space), FieldCondition(key="since", range=Range(lte=up_to))]
    with_vector = HasVectorCondition(has_vector=DENSE)
    return ServerFilter(must=[*until_then]), ServerFilter(must=[*until_then, with_vector])


def watermarks() -> ServerFilter:
    """Return the filter of the watermark points of all spaces: of no record."""
    return ServerFilter(must=[FieldCondition(key="kind", match=MatchValue(value="watermark"))])


def below(position: int) -> ServerFilter:
    """Return the guard of a watermark: it is written only over a lower one."""
    return ServerFilter(must=[FieldCondition(key="position", range=Range(lt=position))])


def lacks(field: str) -> IsEmptyCondition:
    """Return the guard of a mark: a point that has it already keeps it."""
    return IsEmptyCondition(is_empty=PayloadField(key=field))


def record(space: Space, record_id: str, guard: FieldCondition | IsEmptyCondition) -> ServerFilter:
    """Return the filter of one record of a space, where ``guard`` holds for it."""
    return ServerFilter(must=[HasIdCondition(has_id=[record_id]), _in_space(space), guard])
