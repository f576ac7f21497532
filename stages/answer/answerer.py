"""From a question and its first hits to an answer that cites, or to the evidence and why there is no answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from schemas.answer import Answer, Asked, Confidence, Reason, Research
from schemas.recall import Recalled
from schemas.space import Space
from stages.answer.evidence import Evidence, Piece, fitted
from stages.answer.ledger import Ledger, Limits, OutOfTime
from stages.answer.research import Researcher
from stages.answer.working import Material, Written, written_by
from stages.contract import Unavailable
from stages.ports import LanguageModel, Searching

_PROFILE: Final = 6
"""Persona and topic records that stand beside the notes: what the working agent may supplement from (AdaMem 3.4)."""

_CUT: Final = frozenset({Research.REQUESTS, Research.TIME, Research.UNUSABLE})
"""Ends of research after which an answer may lack something: it is not of high confidence."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What came of a question, and of the research into it."""

    evidence: Evidence
    written: Written | None = None
    reason: Reason | None = None
    research: Research = Research.NONE


@dataclass(frozen=True, slots=True)
class Answerer:
    """Answers from one memory. Without ``language`` there is the evidence alone."""

    searching: Searching
    language: LanguageModel | None = None

    async def answer(self, space: Space, asked: Asked, first: Recalled, limits: Limits) -> Answer:
        """Return the answer to a question whose own recall gave ``first``; limits of the question itself hold first.

        ``took_ms`` is 0: a stage has no clock, the caller fills it in.

        Raises:
            Unavailable: if the index, or what recall needs, does not answer. A language model may be away.
        """
        ledger = Ledger(_of(asked, limits))
        ledger.searched(asked.question.question, first.hits)
        outcome = await self._outcome(space, asked, Evidence().plus(first.hits), ledger)
        return _told(asked, first, outcome, ledger)

    async def _outcome(self, space: Space, asked: Asked, evidence: Evidence, ledger: Ledger) -> _Outcome:
        language, why = self.language, _unasked(self.language, evidence, ledger)
        if language is None or why is not None:
            return _Outcome(evidence, reason=why)
        researcher = Researcher(self.searching, language, space, asked.question, ledger, evidence)
        ended = await researcher.run()
        if ended is Research.UNAVAILABLE:  # to ask it again would cost as long once more
            return _Outcome(researcher.evidence, reason=Reason.MODEL_UNAVAILABLE, research=ended)
        return await self._written(language, researcher, ended)

    async def _written(self, language: LanguageModel, done: Researcher, ended: Research) -> _Outcome:
        rows = await self.searching.profile(done.space, done.question, _PROFILE)
        beside = done.evidence.beside(rows)
        material = Material(done.question, _ordered(beside, done), done.summary)
        try:
            written = await written_by(language, done.space, material, done.ledger)
        except OutOfTime:
            return _Outcome(beside, reason=Reason.OUT_OF_TIME, research=ended)
        except Unavailable:
            return _Outcome(beside, reason=Reason.MODEL_UNAVAILABLE, research=ended)
        if written is None:
            return _Outcome(beside, reason=Reason.MODEL_UNUSABLE, research=ended)
        reason = Reason.NOT_IN_MEMORY if written.answer is None else None
        return _Outcome(beside, written, reason, ended)


def _unasked(language: LanguageModel | None, evidence: Evidence, ledger: Ledger) -> Reason | None:
    """Return why no model is asked anything, if that is so."""
    if not evidence.hits:
        return Reason.NOT_IN_MEMORY
    if language is None:
        return Reason.NO_MODEL
    if not evidence.pieces:
        return Reason.SUSPECT
    if not fitted(evidence.pieces, ledger.limits.tokens).pieces:  # "not in memory" would be a lie
        return Reason.OUT_OF_BUDGET
    return Reason.OUT_OF_REQUESTS if ledger.left < 1 else None


def _of(asked: Asked, limits: Limits) -> Limits:
    return Limits(
        limits.tokens if asked.budget is None else asked.budget,
        limits.requests if asked.requests is None else asked.requests,
    )


def _ordered(beside: Evidence, done: Researcher) -> list[Piece]:
    """Return the pieces as they are of use: what the notes rest on, what sums up people and matters, then the rest."""
    found = len(done.evidence.pieces)
    rest = (piece.number for piece in beside.pieces)
    return beside.of([*done.sources, *range(found + 1, len(beside.pieces) + 1), *rest])


def _told(asked: Asked, first: Recalled, outcome: _Outcome, ledger: Ledger) -> Answer:
    written, evidence = outcome.written or Written(None), outcome.evidence
    is_answered = written.answer is not None
    return Answer(
        id=asked.question.id,
        answer=written.answer,
        reason=outcome.reason,
        confidence=_confidence(written, outcome.research) if is_answered else None,
        inferred=written.inferred,
        citations=tuple(piece.cited() for piece in written.cited),
        evidence=() if is_answered else evidence.hits,
        research=outcome.research,
        stale=first.stale,
        behind=first.behind,
        took_ms=0.0,
        used=ledger.used(evidence.withheld),
        degraded=first.degraded,
        trace=tuple(ledger.steps) if asked.trace else (),
    )


def _confidence(written: Written, research: Research) -> Confidence:
    """Return how sure an answer is: never more than medium where it is inferred, or the research was cut off."""
    is_doubtful = written.inferred or research in _CUT
    return Confidence.MEDIUM if is_doubtful and written.confidence is Confidence.HIGH else written.confidence
