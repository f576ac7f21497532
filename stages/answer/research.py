"""The research agent: plan, search, integrate, reflect (AdaMem 3.4, E.5); the last two are one request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from schemas.answer import Research, Step, StepKind
from schemas.base import Model
from schemas.recall import Hit, Question
from schemas.space import Space
from stages.answer.cites import Cites
from stages.answer.dates import written
from stages.answer.evidence import Evidence
from stages.answer.ledger import Ledger, OutOfTime, named, turns_of
from stages.answer.shapes import INTEGRATE, PLAN, Notes
from stages.contract import Unavailable
from stages.ports import LanguageModel, Request, Searching
from stages.prompts import as_data

A = TypeVar("A", bound=Model)

ROUNDS: Final = 2
"""Rounds of notes: one is too few for a question in parts, a third gathers what is beside the point (AdaMem 4.4)."""

_PLANNED: Final = 3
"""Requests that must be left for a plan: itself, notes, and the answer."""


class _Ended(Exception):  # noqa: N818 - it is no error: the research goes no further, and what it has stands
    def __init__(self, why: Research) -> None:
        super().__init__(why.value)
        self.why = why


@dataclass(slots=True)
class Researcher:
    """The research into one question; evidence and notes grow as it goes on, and stand wherever it ends."""

    searching: Searching
    language: LanguageModel
    space: Space
    question: Question
    ledger: Ledger
    evidence: Evidence
    summary: str = ""
    sources: tuple[int, ...] = ()
    _asked: set[str] = field(default_factory=set)
    _shown: frozenset[int] = frozenset()

    async def run(self) -> Research:
        """Research until it suffices or has to end, and return why it ended.

        Raises:
            Unavailable: if the index, or what recall needs, does not answer.
        """
        if self.ledger.left <= 1:
            return Research.REQUESTS
        self._asked.add(_plain(self.question.question))
        try:
            return await self._rounds()
        except _Ended as ended:
            return ended.why

    async def _rounds(self) -> Research:
        await self._search(await self._plan())
        for number in range(1, ROUNDS + 1):
            notes = await self._integrate(number)
            if notes.enough or not notes.follow_ups:
                return Research.ENOUGH
            if number < ROUNDS and self.ledger.left <= 1:
                return Research.REQUESTS
            if number < ROUNDS and not await self._search(notes.follow_ups):
                return Research.NOTHING_NEW
        return Research.ROUNDS

    async def _plan(self) -> tuple[str, ...]:
        if self.ledger.left < _PLANNED:
            return ()
        plan = await self._ask(Request(self.space, PLAN, as_data(about(self.question))), StepKind.PLAN)
        if plan is None:
            return ()  # the question itself has been searched for
        outcome, prompt = f"{len(plan.queries)} queries", named(PLAN)
        self.ledger.steps.append(Step(step=StepKind.PLAN, outcome=outcome, prompt=prompt, queries=plan.queries))
        return plan.queries

    async def _search(self, queries: Sequence[str]) -> bool:
        """Search for what was not searched for yet; tell whether anything new was found."""
        new = list({_plain(query): query for query in queries if _plain(query) not in self._asked}.values())
        self._asked |= {_plain(query) for query in new}
        found = [await self._recall(query) for query in new]
        before = len(self.evidence.pieces)
        self.evidence = self.evidence.plus(*found)
        return len(self.evidence.pieces) > before

    async def _recall(self, query: str) -> Sequence[Hit]:
        """Search as the question itself was: for the same asker, at the same time, of the same past."""
        asked = self.question.model_copy(update={"question": query, "id": None})
        found = await self.searching.recall(self.space, asked)
        self.ledger.searched(query, found.hits)
        return found.hits

    async def _integrate(self, number: int) -> Notes:
        """Take notes of what is new since the last ones."""
        fit = self.ledger.fit([piece for piece in self.evidence.pieces if piece.number not in self._shown])
        self._shown |= fit.numbers
        data = as_data({**about(self.question), "notes": self.summary, "evidence": fit.data})
        cites = Cites(self._shown)
        notes = await self._ask(Request(self.space, INTEGRATE, data, check=cites.notes), StepKind.INTEGRATE)
        self.ledger.refused += cites.refused
        if notes is None:
            raise _Ended(Research.UNUSABLE)
        self.ledger.rounds = number
        self.summary = notes.summary.strip()
        self.sources = tuple(number for number in notes.sources if number in self._shown)
        self.ledger.steps.append(self._noted(notes))
        return notes

    def _noted(self, notes: Notes) -> Step:
        return Step(
            step=StepKind.INTEGRATE,
            outcome="enough" if notes.enough else "not enough",
            prompt=named(INTEGRATE),
            queries=notes.follow_ups,
            turn_ids=turns_of(piece.turn_ids for piece in self.evidence.of(self.sources)),
            summary=self.summary,
        )

    async def _ask(self, request: Request[A], step: StepKind) -> A | None:
        try:
            return await self.ledger.ask(self.language, request, step)
        except OutOfTime as error:
            raise _Ended(Research.TIME) from error
        except Unavailable as error:
            raise _Ended(Research.UNAVAILABLE) from error


def about(question: Question) -> dict[str, object]:
    """Return what a model is told of a question: who asks and when, where that is known."""
    told: dict[str, object] = {"question": question.question}
    if question.asker is not None:
        told["asker"] = question.asker
    if question.asked_at is not None:
        told["asked_at"] = written(question.asked_at)
    return told


def _plain(query: str) -> str:
    return " ".join(query.casefold().split())
