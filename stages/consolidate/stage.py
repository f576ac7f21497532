"""Consolidate: the decisions of a night, from what a space remembers (mechanics, consolidate)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.space import Space
from stages.consolidate.limits import Limits, limits_of
from stages.consolidate.merging import Merging
from stages.consolidate.plan import Live, Plan
from stages.consolidate.theming import Theming
from stages.ports import Embedder, LanguageModel


@dataclass(frozen=True, slots=True)
class Consolidate:
    """Decides what a night does to a space; ``language`` judges and writes where there is one, else rules do.

    ``limits`` are those that were calibrated for the encoder, unless others are given. The same records give the same
    decisions, whatever order they come in.
    """

    embedder: Embedder
    language: LanguageModel | None = None
    limits: Limits | None = None

    @property
    def _limits(self) -> Limits:
        return self.limits or limits_of(self.embedder.model)

    async def merges(self, space: Space, live: Sequence[Live], most: int) -> Plan:
        """Return what becomes one record; at most ``most`` records are retired, the rest is left to the next run.

        Raises:
            Unavailable: if the encoder or the model does not answer.
        """
        return await Merging(space, self.embedder, self.language, self._limits, most).plan(live)

    async def themes(self, space: Space, live: Sequence[Live]) -> Plan:
        """Return the topics and personas that are to be written or are over, on a look at memory after the merges.

        Raises:
            Unavailable: if the encoder or the model does not answer.
        """
        return await Theming(space, self.embedder, self.language, self._limits).plan(live)
