"""A read's filter as the server's, and the guards of its writes. There is no way to make one without a space."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from qdrant_client.models import (
    FieldCondition,
    HasIdCondition,
    IsEmptyCondition,
    MatchAny,
    MatchValue,
    PayloadField,
    Range,
)
from qdrant_client.models import Filter as ServerFilter

from infra.qdrant.points import tag
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
    yield _one_of("kind", (kind.value for kind in where.kinds))
    yield FieldCondition(key="since", range=Range(lte=where.as_of))
    if not where.closed_too:
        yield FieldCondition(key="until", range=Range(gt=where.as_of))
    for name, values in (("owner", where.owners), ("turn", where.turn_ids), ("branch", where.branches)):
        if values is not None:
            yield _one_of(name, values)
    for name, value in (("attribute", where.key_attribute), ("subject", where.key_subject)):
        if value is not None:
            yield _one_of(name, (value,))


def _in_space(space: Space) -> FieldCondition:
    return FieldCondition(key="space", match=MatchValue(value=str(space)))


def _one_of(name: str, values: Iterable[object]) -> FieldCondition:
    return FieldCondition(key="tags", match=MatchAny(any=sorted(tag(name, value) for value in values)))


def between(space: Space, above: int, up_to: int) -> ServerFilter:
    """Return the filter of a space's records with ``above < since <= up_to``."""
    return ServerFilter(must=[_in_space(space), FieldCondition(key="since", range=Range(gt=above, lte=up_to))])


def below(position: int) -> ServerFilter:
    """Return the guard of a watermark: it is written only over a lower one."""
    return ServerFilter(must=[FieldCondition(key="position", range=Range(lt=position))])


def lacks(field: str) -> IsEmptyCondition:
    """Return the guard of a mark: a point that has it already keeps it."""
    return IsEmptyCondition(is_empty=PayloadField(key=field))


def record(space: Space, record_id: str, guard: FieldCondition | IsEmptyCondition) -> ServerFilter:
    """Return the filter of one record of a space, where ``guard`` holds for it."""
    return ServerFilter(must=[HasIdCondition(has_id=[record_id]), _in_space(space), guard])
