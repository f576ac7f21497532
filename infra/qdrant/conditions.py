"""A read's filter as the engine's. There is no way to make one without a space."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from qdrant_edge import FieldCondition, MatchAny, MatchValue, RangeFloat
from qdrant_edge import Filter as EdgeFilter

from infra.qdrant.points import tag
from schemas.space import Space
from stages.ports import Filter


def of_space(space: Space) -> EdgeFilter:
    """Return the filter that selects all records of a space."""
    return EdgeFilter(must=[_in_space(space)])


def _in_space(space: Space) -> FieldCondition:
    return FieldCondition("space", match=MatchValue(str(space)))


def _one_of(name: str, values: Iterable[object]) -> FieldCondition:
    return FieldCondition("tags", match=MatchAny(sorted(tag(name, value) for value in values)))


def selects_nothing(where: Filter) -> bool:
    """Whether a set of allowed values is empty, so that no record can match."""
    sets = (where.kinds, where.owners, where.turn_ids, where.branches)
    return any(values is not None and not values for values in sets)


def condition(where: Filter) -> EdgeFilter:
    """Return the engine's filter: all conditions of ``where`` must hold."""
    return EdgeFilter(must=list(_conditions(where)))


def _conditions(where: Filter) -> Iterator[FieldCondition]:
    yield _in_space(where.space)
    yield _one_of("kind", (kind.value for kind in where.kinds))
    yield FieldCondition("since", range=RangeFloat(lte=where.as_of))
    if not where.closed_too:
        yield FieldCondition("until", range=RangeFloat(gt=where.as_of))
    for name, values in (("owner", where.owners), ("turn", where.turn_ids), ("branch", where.branches)):
        if values is not None:
            yield _one_of(name, values)
    for name, value in (("attribute", where.key_attribute), ("subject", where.key_subject)):
        if value is not None:
            yield _one_of(name, (value,))
