"""A language model that says what a test tells it to, held to the request's schema and check as the real one is."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import ValidationError

from schemas.base import Model
from stages.ports import Request

A = TypeVar("A", bound=Model)


@dataclass
class Scripted:
    """Implements ``LanguageModel``: ``say`` gives the answer to a request as JSON values, ``None`` for rubbish.

    ``asked`` are the requests so far, each try by itself. What does not fit the schema or fails the check is rubbish
    too, and asked for again until there were ``tries``. ``say`` may raise ``Unavailable``.
    """

    say: Callable[[Request[Any]], object]
    model: str = "scripted"
    asked: list[Request[Any]] = field(default_factory=list)
    tries: int = 1

    async def ask(self, request: Request[A]) -> A | None:
        """Return the scripted answer, validated."""
        for _ in range(self.tries):
            answer = self._asked(request)
            if answer is not None:
                return answer
        return None

    def _asked(self, request: Request[A]) -> A | None:
        self.asked.append(request)
        said = self.say(request)
        try:
            answer = request.prompt.answer.model_validate_json(json.dumps(said))
        except ValidationError:
            return None
        return answer if request.check is None or request.check(answer) is None else None
