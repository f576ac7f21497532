"""Recall: the turns that answer a question, with their evidence (AdaMem 3.3), and the bundle for a new turn."""

from __future__ import annotations

from asyncio import gather
from dataclasses import dataclass
from datetime import datetime

from schemas.localized import Placement
from schemas.memory import RecordRow
from schemas.recall import Bundle, ContextInput, Hit, Question, Recalled
from schemas.space import Space
from stages.ports import Embedder, Localizer, Reranker, Search
from stages.recall.asking import People
from stages.recall.bodies import Bodies
from stages.recall.bundle import Told, assemble
from stages.recall.fit import Sought
from stages.recall.fusion import Fusion
from stages.recall.hits import Around, to_hits
from stages.recall.member import member, raised
from stages.recall.path import read_path, turns_of
from stages.recall.pool import Hits
from stages.recall.profile import Profile, profile
from stages.recall.rank import Evidence
from stages.recall.rerank import RERANKED, reranked
from stages.recall.retrieve import Retriever, Scope, asked_at, seen
from stages.recall.tentative import unguessed
from stages.text.times import resolve_times

_BOOSTED = 2
"""Candidates whose bodies are read, in k. Boosts lift none from further down into the first k (measured)."""

_TIMELY = 5
"""So many times more where the question names a time: that boost is the only one that reaches far."""

_ACROSS = 24
"""Turns asked for a bundle: more than a budget of a few thousand tokens can hold."""


_ABOUT = 4
"""Persona and topic records in a bundle at most: what is known in general leaves room for what was said."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How far memory is behind the log, as the caller found it.

    ``behind`` counts events not yet in memory; ``stale``: it gave up waiting for the reader's own last write.
    """

    stale: bool = False
    behind: int = 0


CURRENT = Standing()


@dataclass(frozen=True, slots=True)
class _Answer:
    """Hits, and what did not answer and was left out."""

    hits: tuple[Hit, ...] = ()
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recall:
    """The read side of one index. ``localizer`` adds branch affinity to recall; ``context`` needs it.

    ``reranker`` judges the best candidates once more; where it does not answer, recall goes on without.
    """

    search: Search
    embedder: Embedder
    localizer: Localizer | None = None
    reranker: Reranker | None = None

    async def recall(self, space: Space, question: Question, standing: Standing = CURRENT) -> Recalled:
        """Return the hits for ``question``, best first; they hold ``question.k`` distinct turns if there are so many.

        ``took_ms`` is 0: a stage has no clock, the caller fills it in.

        Raises:
            Unavailable: if the index or a model does not answer.
        """
        scope = await seen(self.search, space, question)
        answer = await self._hits(scope, question) if scope.as_of >= 0 else _Answer()
        return Recalled(
            id=question.id,
            hits=answer.hits,
            stale=standing.stale,
            behind=standing.behind,
            took_ms=0.0,
            degraded=answer.degraded,
        )

    async def context(self, space: Space, asked: ContextInput, budget: int) -> Bundle:
        """Return the bundle E_t (ArborMem, stage 2) for a turn not yet published, of at most ``budget`` tokens.

        Raises:
            ValueError: if there is no localizer, or the budget is below 1.
            Unavailable: if the index or a model does not answer.
        """
        if self.localizer is None or budget < 1:
            msg = f"{space}: a bundle needs a localizer and a budget of at least one token, got {budget}"
            raise ValueError(msg)
        question = Question(question=asked.text, asker=asked.speaker, asked_at=asked.at, k=_ACROSS)
        scope = await seen(self.search, space, question)
        at = asked_at(scope, question)
        placement = await self.localizer.locate(space, asked.text, asked.speaker, at)
        question = question.model_copy(update={"asked_at": at})
        path, found, about = await gather(
            read_path(self.search, scope, placement),
            self._hits(scope, question, placement),
            self._profile(scope, question),
        )
        around = await Around.read(self.search, scope, turns_of(path))
        told = Told(path, around, about.beside([name for hit in found.hits for name in hit.turn_ids], _ABOUT))
        return assemble(asked.id, placement, told, found.hits, budget)

    async def profile(self, space: Space, question: Question, limit: int) -> tuple[RecordRow, ...]:
        """Return the open persona and topic records that suit ``question``, best first, at most ``limit``.

        Those of a participant whom the question means come before likes of others.

        Raises:
            Unavailable: if the index or the model does not answer.
        """
        scope = await seen(self.search, space, question)
        return (await self._profile(scope, question)).rows[: max(limit, 0)]

    async def _profile(self, scope: Scope, question: Question) -> Profile:
        if scope.as_of < 0:
            return Profile()
        return await profile(self.search, scope, question, await self.embedder.embed_query(question.question))

    async def _hits(self, scope: Scope, question: Question, placement: Placement | None = None) -> _Answer:
        found, placed, sought = await self._found(scope, question, placement)
        fusion = await Fusion.of(self.search, scope, question.question, found)
        best, timely = fusion.pool.best(self._first(question.k, timely=bool(sought))), bool(sought)
        bodies = await Bodies.read(self.search, scope, best, timely=timely, reached=fusion.reached)
        meant = People.of(bodies.rows.values()).meant(question.question, question.asker)
        settled = [one.settled(bodies.rows) for one in best]
        plain = unguessed(fusion.fused(settled, bodies, meant), bodies.rows)
        judged, degraded = await reranked(self.reranker, question.question, plain, bodies.rows)
        order = Evidence(question, sought, placed, bodies, fusion.plan).rank(judged)
        asked = await member(self.search, self.embedder, scope, question)
        first, rows = (order, bodies.rows) if asked is None else raised(order, bodies.rows, asked)
        return _Answer(await to_hits(self.search, scope, first, rows, question.k), degraded)

    def _first(self, k: int, *, timely: bool) -> int:
        least = 0 if self.reranker is None else RERANKED
        return max(least, _BOOSTED * k * (_TIMELY if timely else 1))

    async def _found(
        self, scope: Scope, question: Question, placement: Placement | None
    ) -> tuple[list[Hits], Placement | None, list[Sought]]:
        """Embed the question, then search; to search by words meanwhile takes 2 ms longer where both share a process.

        It is localized after its embedding, when its vector is known to the cache.
        """
        retriever = Retriever(self.search, scope, question)
        vector = await self.embedder.embed_query(question.question)
        by_words, by_sense = await gather(retriever.by_words(), retriever.by_sense(vector))
        at = asked_at(scope, question)
        placed = await self._placed(scope, question, at, placement or scope.placement)
        return [*by_words, *by_sense], placed, _sought(question, at)

    async def _placed(
        self, scope: Scope, question: Question, at: datetime | None, known: Placement | None
    ) -> Placement | None:
        """Return ``known``, else where the question hangs if its asker said it next.

        A question that nobody of the space asks resumes nothing there; the forest of an earlier position is not kept.
        """
        if known is not None or self.localizer is None or question.asker is None or not scope.is_now:
            return known
        return await self.localizer.locate(scope.space, question.question, question.asker, at)


def _sought(question: Question, at: datetime | None) -> list[Sought]:
    """Return the times that the question names, as of when it is asked."""
    if at is None:
        return []
    return [Sought.of(mention.interval, at) for mention in resolve_times(question.question, at)]
