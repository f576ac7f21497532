"""How near those are to each other that could be one record: what a threshold is calibrated by."""

from __future__ import annotations

from collections.abc import Iterable

from stages.consolidate.by_rules import exact
from stages.consolidate.graph import edges
from stages.consolidate.merging import by_group
from stages.consolidate.plan import Live
from stages.consolidate.units import statements
from stages.ports import Embedder

_ANY = -1000


async def closeness(embedder: Embedder, live: Iterable[Live]) -> list[int]:
    """Return the cosine, in thousandths, of each two records of one kind, key, branch and time that differ in words.

    Raises:
        Unavailable: if the encoder does not answer.
    """
    found: list[int] = []
    for group in by_group(statements(live)):
        vectors = await embedder.embed([unit.text for unit in await exact(group)])
        found += (edge.score for edge in edges(vectors, _ANY))
    return found
