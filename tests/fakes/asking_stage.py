"""Lets the first stage ask its language model about each turn, whatever else the stages ask it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import pytest
from pydantic import Field

from schemas.base import Model
from schemas.normalized import Normalized
from schemas.turn import Turn
from stages.contract import Emit
from stages.normalize import Normalize
from stages.ports import LanguageModel, Request
from stages.prompts import Prompt, as_data


class Gist(Model):
    """What a turn says, in a word."""

    word: Annotated[str, Field(min_length=1, max_length=40)]


A = TypeVar("A", bound=Model)

GIST = Prompt("normalize.gist", 1, "Say in a word what the turn in the data is about.", Gist, 32)


def let_ask(patch: pytest.MonkeyPatch) -> None:
    """Let it ask, and let the summary of a turn begin with the answer, where there is one."""
    decide = Normalize.decide

    async def decided(stage: Normalize, message: Any, state: Any) -> Any:
        turn, language = message.event, stage.language
        if language is None or not isinstance(turn, Turn):
            return await decide(stage, message, state)
        data = as_data({"turn": turn.text, "id": turn.turn_id, "revision": turn.revision})
        gist = await language.ask(Request(message.header.space, GIST, data))
        outcome = await decide(stage, message, state)
        if gist is None or not isinstance(outcome, Emit) or not isinstance(outcome.message, Normalized):
            return outcome
        z = outcome.message.z.model_copy(update={"summary": f"{gist.word}: {outcome.message.z.summary}"})
        return Emit(outcome.message.model_copy(update={"z": z}), outcome.state)

    patch.setattr(Normalize, "decide", decided)


@dataclass(frozen=True)
class OnlyGist:
    """Implements ``LanguageModel``: ``inner`` is asked for gists alone, all else is left to rules."""

    inner: LanguageModel

    @property
    def model(self) -> str:
        return self.inner.model

    async def ask(self, request: Request[A]) -> A | None:
        return await self.inner.ask(request) if request.prompt.name == GIST.name else None
