"""A read's filter as the engine's. There is no way to make one without a space."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from qdrant_edge import FieldCondition, HasVectorCondition, MatchAny, MatchValue, RangeFloat
from qdrant_edge import Filter as EdgeFilter

from infra.qdrant.points import tag
from infra.qdrant.shard import DENSE
from schemas.space import Space
from stages.ports import Filter


def of_space(space: Space) -> EdgeFilter:
    """Return the filter that selects all records of a space."""
    return EdgeFilter(must=[_in_space(space)])


def counted(space: Space, as_of: int) -> tuple[EdgeFilter, EdgeFilter]:
    """Return the filters of a space's records up to a position: of all, and of those that have a vector."""
    until_then = FieldCondition("since", range=RangeFloat(lte=as_of))
    every = EdgeFilter(must=[_in_space(space), until_then])
    return every, EdgeFilter(must=[_in_space(space), until_then, HasVectorCondition(DENSE)])


def _in_space(space: Space) -> FieldCondition:
    return FieldCondition("space", match=MatchValue(str(space)))


def _tags(name: str, values: Iterable[object]) -> list[str]:
    return sorted(tag(name, value) for value in values)


def selects_nothing(where: Filter) -> bool:
    """Whether a set of allowed values is empty, so that no record can match."""
    sets = (where.kinds, where.owners, where.turn_ids, where.branches)
    return any(values is not None and not values for values in sets)


def condition(where: Filter) -> EdgeFilter:
    """Return the engine's filter: all conditions of ``where`` must hold."""
    return EdgeFilter(must=list(_conditions(where)))


def _conditions(where: Filter) -> Iterator[FieldCondition]:
    yield _in_space(where.space)
    yield FieldCondition("tags", match=MatchAny(_tags("kind", (kind.value for kind in where.kinds))))
    yield FieldCondition("since", range=RangeFloat(lte=where.as_of))
    if not where.closed_too:
        yield FieldCondition("until", range=RangeFloat(gt=where.as_of))
    for tags in narrowings(where):
        yield FieldCondition("tags", match=MatchAny(tags))


def narrowings(where: Filter) -> Iterator[list[str]]:
    """Yield the tags of each field that narrows a filter beyond its kinds: a record must bear one of them."""
    for name, values in (("turn", where.turn_ids), ("owner", where.owners), ("branch", where.branches)):
        if values is not None:
            yield _tags(name, values)
    for name, value in (("attribute", where.key_attribute), ("subject", where.key_subject)):
        if value is not None:
            yield _tags(name, (value,))
