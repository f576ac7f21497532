"""A language model that plays both agents by a script: what it says to each prompt, time after time."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from stages.contract import Unavailable
from stages.ports import Request
from tests.fakes.language_model import Scripted

Say = object | Callable[[Any], object]


def notes(summary: str, sources: list[int], *follow_ups: str) -> dict[str, object]:
    """Return notes; with ``follow_ups`` they do not suffice."""
    return {"summary": summary, "sources": sources, "enough": not follow_ups, "follow_ups": list(follow_ups)}


def reply(answer: str, *cites: int, **more: object) -> dict[str, object]:
    """Return an answer that cites."""
    return {"found": True, "cites": list(cites), "answer": answer, "inferred": False, "confidence": "high"} | more


NOT_FOUND = reply("", found=False, confidence="low")


@dataclass
class Agents:
    """What is said, by prompt and in order; the last stands for all later times. ``None`` is rubbish.

    A value that can be called is given the data of the request; an exception is raised.
    """

    plan: list[Any] = field(default_factory=lambda: [{"queries": []}])
    integrate: list[Any] = field(default_factory=lambda: [notes("Something was said.", [1])])
    reply: list[Any] = field(default_factory=lambda: [reply("yes", 1)])

    def model(self, tries: int = 2) -> Scripted:
        """Return the model; as the real one, it is asked once more where an answer is of no use."""
        said = {name: iter(getattr(self, name)) for name in ("plan", "integrate", "reply")}
        last: dict[str, Any] = {}

        def say(request: Request[Any]) -> object:
            name = request.prompt.name.removeprefix("answer.")
            last[name] = one = next(said[name], last.get(name))
            if isinstance(one, Exception):
                raise one
            return one(json.loads(request.data)) if callable(one) else one

        return Scripted(say, tries=tries)


AWAY = Unavailable("the model does not answer")
