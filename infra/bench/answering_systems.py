"""Systems that answer questions: memory by its agents, and what needs no memory, by the same model and prompt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from infra.bench.contexts import Context, full_context, recent_turns
from infra.bench.gold import NOT_THERE
from infra.bench.question_sets import PlainTurn
from infra.memory_api import Memory
from infra.models.asking import asking_of, estimated
from schemas.answer import Asked, Reason
from schemas.memory import RecordKind
from schemas.recall import Question
from schemas.space import Space
from stages.answer import REPLY, Ledger, Limits, Material, Piece, written_by
from stages.ports import LanguageModel, Request
from stages.prompts import as_data

MEMORY: Final = "memory"
FULL: Final = "full context"
RECENT: Final = "recent turns"
BEST_HIT: Final = "best hit (no model)"
"""The text of the best hit as it is: what memory is worth to somebody who reads it himself."""

NEVER: Final = "never answers (no model)"
"""Says of every question that memory does not hold it: right of what was never said, and of nothing else."""

SECONDS: Final = 600.0
"""Seconds of an answer: many are asked at once here, and what is measured is what is said, not how soon."""

_A_PIECE: Final = 40
"""Tokens of a piece beside its text, at most: number, date and signs."""

_SLACK: Final = 64
_AT_A_TIME: Final = 50
"""One turn in so many is left out at a time until a request fits."""

_ALL: Final = 10**9


@dataclass(frozen=True, slots=True)
class Said:
    """What a system said. ``tokens`` of evidence it was shown for it, ``raw`` is kept; ``reason``: why it said none."""

    text: str
    tokens: int = 0
    reason: str = "answered"
    raw: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Told:
    """A conversation as systems without memory see it: its turns and when each was said."""

    space: Space
    turns: Sequence[PlainTurn]
    at: Mapping[str, datetime]

    def pieces(self, context: Context) -> list[Piece]:
        """Return the turns of a context as evidence, in order."""
        wanted = frozenset(context.turn_ids)
        return [
            Piece(n, one.turn_id, RecordKind.TURN, (one.turn_id,), one.speaker, self.at[one.turn_id], one.text)
            for n, one in enumerate((turn for turn in self.turns if turn.turn_id in wanted), 1)
        ]


@dataclass(frozen=True, slots=True)
class Reader:
    """A language model that is shown turns and answers by the working agent's prompt; ``context``: all it can hold."""

    language: LanguageModel
    context: int

    async def full(self, told: Told, question: Question) -> Said:
        """Answer from all turns, or the newest that the model can hold."""
        return await self._answer(told, question, full_context(told.turns, self._room(told, question), count=_cost))

    async def recent(self, told: Told, question: Question) -> Said:
        """Answer from the newest turns."""
        return await self._answer(told, question, recent_turns(told.turns, self._room(told, question), count=_cost))

    def _room(self, told: Told, question: Question) -> int:
        """Return the tokens that are left for turns: prompt, schema, question and answer go off."""
        return max(1, self.context - self._request(told, question, []) - _SLACK)

    async def _answer(self, told: Told, question: Question, context: Context) -> Said:
        ledger = Ledger(Limits(_ALL, 1))
        pieces = self._fitting(told, question, told.pieces(context))
        written = await written_by(self.language, told.space, Material(question, pieces), ledger)
        raw = {
            "turns": len(pieces),
            "whole": context.whole and len(pieces) == len(context.turn_ids),
            "refused": ledger.refused,
        }
        if written is None:
            return Said("", ledger.tokens, Reason.MODEL_UNUSABLE, raw)
        cited = [turn_id for piece in written.cited for turn_id in piece.turn_ids]
        reason = Reason.NOT_IN_MEMORY if written.answer is None else "answered"
        return Said(written.answer or NOT_THERE, ledger.tokens, reason, raw | {"cited": cited})

    def _fitting(self, told: Told, question: Question, pieces: list[Piece]) -> list[Piece]:
        """Leave out the oldest until the request can be asked: what a line costs was an estimate."""
        while pieces and self._request(told, question, pieces) > self.context:
            pieces = pieces[1 + len(pieces) // _AT_A_TIME :]
        return pieces

    def _request(self, told: Told, question: Question, pieces: Sequence[Piece]) -> int:
        """Return the tokens of a request and its answer."""
        shown = Ledger(Limits(_ALL, 1)).fit(pieces).data
        data = as_data({"question": question.question, "notes": "", "evidence": shown})
        return asking_of(Request(told.space, REPLY, data)).tokens


def _cost(line: str) -> int:
    return estimated(line) + _A_PIECE


async def from_memory(memory: Memory, space: Space, question: Question) -> Said:
    """Answer by the agents. Where there is no answer for another reason than that memory has none, nothing is said."""
    answer = await memory.answer(space, Asked(question=question, seconds=SECONDS, trace=True))
    raw = answer.model_dump(mode="json")
    if answer.answer is not None:
        return Said(answer.answer, answer.used.tokens, raw=raw)
    reason = answer.reason or Reason.NOT_IN_MEMORY
    return Said(NOT_THERE if reason is Reason.NOT_IN_MEMORY else "", answer.used.tokens, reason, raw)


async def best_hit(memory: Memory, space: Space, question: Question) -> Said:
    """Give the text of the best hit."""
    hits = (await memory.recall(space, question.model_copy(update={"k": 1}))).hits
    return Said(hits[0].text if hits else NOT_THERE, raw={"turn_ids": list(hits[0].turn_ids) if hits else []})


System = Callable[[Told, Question], Awaitable[Said]]


def by_model(memory: Memory, reader: Reader) -> dict[str, System]:
    """Return the systems that a language model answers for, by name."""

    async def ours(told: Told, question: Question) -> Said:
        return await from_memory(memory, told.space, question)

    return {MEMORY: ours, FULL: reader.full, RECENT: reader.recent}
