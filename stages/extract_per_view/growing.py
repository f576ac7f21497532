"""How a space's views grow with its chunks: discovery, the pool, convergence, and the records that say so."""

from __future__ import annotations

from dataclasses import dataclass, replace

from schemas.localized import Localized
from schemas.view import FoundView, ViewDetail, ViewSet
from stages.extract_per_view.convergence import Converged, Converging
from stages.extract_per_view.discovery import Discovery, discover
from stages.extract_per_view.learning import Learning, candidate, named
from stages.extract_per_view.pool import LEAST, pool
from stages.extract_per_view.sets import Choice, instruction
from stages.ports import Embedder, History, LanguageModel


@dataclass(frozen=True, slots=True)
class Grown:
    """What a round brought: the state after it, and the records of candidates and of the new set."""

    learning: Learning
    views: tuple[FoundView, ...] = ()
    refused: int = 0
    degraded: bool = False


@dataclass(frozen=True, slots=True)
class Growing:
    """One round, in the event that completes it."""

    embedder: Embedder
    history: History
    language: LanguageModel
    choice: Choice

    async def round(self, message: Localized, learning: Learning, active: ViewSet) -> Grown:
        """Return what a round brings: candidates always, a new set once there is enough to choose from.

        Raises:
            Unavailable: if a model or the index does not answer.
        """
        if not learning.recent:  # all of it was suspect: nothing calls for a view
            return Grown(learning)
        position, turn_id = message.header.position, message.normalized.turn.turn_id
        space = message.header.space
        found = await discover(self.language, space, learning, active, (position, turn_id))
        fresh = tuple(candidate(position, at, one.view, one.turns) for at, one in enumerate(found.proposed))
        after = learning.proposed(position, fresh)
        records = await self._candidates(found)
        candidates = await pool(self.history, space, position, after)
        if len(candidates) < LEAST:
            return Grown(after, records, found.refused, found.degraded)
        made = await Converging(self.embedder, self.language, self.choice).converge(space, position, active, candidates)
        degraded = found.degraded or any(one.degraded for one in made.members)
        learned = replace(after, active=made.views)
        return Grown(learned, (*records, *_members(made, turn_id)), found.refused, degraded)

    async def _candidates(self, found: Discovery) -> tuple[FoundView, ...]:
        texts = [instruction(one.view) for one in found.proposed]
        vectors = await self.embedder.embed(texts) if texts else []
        return tuple(
            FoundView(detail=ViewDetail(view=one.view), text=text, provenance=one.turns, vector=vector)
            for one, text, vector in zip(found.proposed, texts, vectors, strict=True)
        )


def _members(made: Converged, turn_id: str) -> tuple[FoundView, ...]:
    """Return the records of a new set; a general view rests on the turn at which it was chosen."""
    return tuple(
        FoundView(
            detail=one.detail(made.views),
            text=instruction(one.view),
            provenance=named(one.seed.turns, turn_id),
            degraded=one.degraded,
            vector=one.vector,
        )
        for one in made.members
    )
