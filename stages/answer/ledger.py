"""What an answer may cost, what it has cost so far, and the steps that it took."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from schemas.answer import Step, StepKind, Used
from schemas.base import Model
from schemas.recall import Hit
from stages.answer.evidence import Fitted, Piece, fitted
from stages.contract import Unavailable
from stages.ports import LanguageModel, Request
from stages.prompts import Prompt

A = TypeVar("A", bound=Model)

UNUSABLE: Final = "unusable"
"""The outcome of a step whose answer was of no use, twice."""


class OutOfTime(Unavailable):
    """The time that this request may take is over. A stage has no clock: the language model that it is given has."""


@dataclass(frozen=True, slots=True)
class Limits:
    """``tokens`` of evidence in a request, and ``requests`` to the model, of which the last is kept for the answer."""

    tokens: int = 2000
    requests: int = 4


@dataclass(slots=True)
class Ledger:
    """The account of one answer."""

    limits: Limits
    searches: int = 0
    requests: int = 0
    rounds: int = 0
    tokens: int = 0
    refused: int = 0
    unshown: int = 0
    steps: list[Step] = field(default_factory=list)

    @property
    def left(self) -> int:
        """Requests that may still be made."""
        return self.limits.requests - self.requests

    def fit(self, pieces: Sequence[Piece]) -> Fitted:
        """Return what a request has room for."""
        fit = fitted(pieces, self.limits.tokens)
        self.tokens += fit.tokens
        self.unshown += fit.unshown
        return fit

    def searched(self, question: str, hits: Sequence[Hit]) -> None:
        """Note a search."""
        self.searches += 1
        found = turns_of(hit.turn_ids for hit in hits)
        outcome = f"{len(hits)} found"
        self.steps.append(Step(step=StepKind.SEARCH, outcome=outcome, queries=(question,), turn_ids=found))

    async def ask(self, language: LanguageModel, request: Request[A], step: StepKind) -> A | None:
        """Return what the model answers, ``None`` if it is of no use; where there is no answer, the step is noted.

        Raises:
            OutOfTime: if the time is over.
            Unavailable: if the model does not answer.
        """
        self.requests += 1
        try:
            said = await language.ask(request)
        except Unavailable as error:
            outcome = "out of time" if isinstance(error, OutOfTime) else "no answer"
            self.steps.append(Step(step=step, prompt=named(request.prompt), outcome=outcome))
            raise
        if said is None:
            self.steps.append(Step(step=step, prompt=named(request.prompt), outcome=UNUSABLE))
        return said

    def used(self, withheld: int) -> Used:
        """Return the account as it is told."""
        return Used(
            searches=self.searches,
            requests=self.requests,
            rounds=self.rounds,
            tokens=self.tokens,
            refused=self.refused,
            withheld=withheld,
            unshown=self.unshown,
        )


def named(prompt: Prompt[A]) -> str:
    """Return a prompt as traces and figures name it, ``answer.reply.v1``."""
    return f"{prompt.name}.v{prompt.version}"


def turns_of(groups: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """Return turn ids of several records, each once, in order."""
    return tuple(dict.fromkeys(turn_id for group in groups for turn_id in group))
