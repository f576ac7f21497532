"""Answers from an open memory: the language model of the read side, and the clock that the agents don't have."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from time import perf_counter  # noqa: TID251 - took_ms is a measurement, nothing is decided by it
from typing import Final, TypeVar

from infra.language_models import reading_language_model
from infra.settings import Settings
from schemas.answer import Answer, Asked
from schemas.base import Model
from schemas.recall import Recalled
from schemas.space import Space
from stages.answer import REPLY, Answerer, Limits, OutOfTime
from stages.ports import LanguageModel, Request, Searching
from streams.metrics import ModelCounts

A = TypeVar("A", bound=Model)

SECONDS: Final = 20.0
"""Of an answer, where nothing else is said: four requests of some seconds each."""

_RESEARCH: Final = 0.7
"""Part of the time that research may take: what it found is worth nothing without an answer."""

_A_PIECE_OF_CONTEXT: Final = 4
"""Evidence may take one in so many tokens of a model's context: prompt, notes and answer want the rest, and to count by
bytes, as budgets do, comes out at half of what careful tokenizers make of digits and signs."""


@dataclass(frozen=True, slots=True)
class InTime:
    """Implements ``LanguageModel`` until its time is over, ``started`` and ``seconds`` by the running loop's clock."""

    language: LanguageModel
    started: float
    seconds: float

    @property
    def model(self) -> str:
        """Name of the model."""
        return self.language.model

    async def ask(self, request: Request[A]) -> A | None:
        """Return the answer of the model.

        Raises:
            OutOfTime: if there is none in time; research has a part of the time, the answer all of it.
            Unavailable: if the model does not answer.
        """
        part = 1.0 if request.prompt is REPLY else _RESEARCH
        deadline = self.started + part * self.seconds
        try:
            if asyncio.get_running_loop().time() < deadline:
                async with asyncio.timeout_at(deadline):
                    return await self.language.ask(request)
        except TimeoutError:
            pass
        msg = f"{request.prompt.name} has no answer within {part * self.seconds:g} s of {self.seconds:g} s"
        raise OutOfTime(msg)


@dataclass(slots=True)
class Answering:
    """Answers questions of an open memory. ``make`` gives the language model when the first is asked.

    ``limits`` and ``seconds`` hold where a question says nothing.
    """

    make: Callable[[], LanguageModel | None] = lambda: None
    limits: Limits = field(default_factory=Limits)
    seconds: float = SECONDS
    _made: list[LanguageModel | None] = field(default_factory=list)

    @property
    def language(self) -> LanguageModel | None:
        """The language model.

        Raises:
            MissingError: if its client is not installed.
        """
        if not self._made:
            self._made.append(self.make())
        return self._made[0]

    async def answer(self, searching: Searching, space: Space, asked: Asked, first: Recalled, began: float) -> Answer:
        """Return the answer to a question whose recall, since ``began`` (``perf_counter``), gave ``first``.

        Raises:
            Unavailable: if the index, or what recall needs, does not answer.
            MissingError: if the language model's client is not installed.
        """
        seconds = self.seconds if asked.seconds is None else asked.seconds
        language = self.language
        timed = None if language is None else InTime(language, asyncio.get_running_loop().time(), seconds)
        answer = await Answerer(searching, timed).answer(space, asked, first, self.limits)
        return answer.model_copy(update={"took_ms": round(1000 * (perf_counter() - began), 3)})


def answering(settings: Settings, counts: ModelCounts, stack: AsyncExitStack) -> Answering:
    """Return what answers as the settings say; its connections close with ``stack``."""
    tokens = min(settings.answer_tokens, settings.model_context // _A_PIECE_OF_CONTEXT)
    return Answering(
        lambda: reading_language_model(settings, counts, stack),
        Limits(tokens, settings.answer_requests),
        settings.answer_seconds,
    )
