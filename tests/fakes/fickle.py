"""An endpoint that never says the same twice: an answer of its that was not kept cannot be had again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from infra.models.completion import Completion
from stages.contract import Unavailable


@dataclass
class Fickle:
    """Implements ``Chat`` for ``asking_stage.GIST``: another word at each call, and rubbish for every third turn.

    The first ``away`` calls are not answered.
    """

    model: str = "fickle"
    away: int = 0
    calls: int = 0

    async def complete(self, body: Mapping[str, Any], tenant: str) -> tuple[Completion, float]:
        if self.away:
            self.away -= 1
            msg = "the model is away"
            raise Unavailable(msg)
        self.calls += 1
        number = int(json.loads(body["messages"][1]["content"].partition("\n")[0])["id"].removeprefix("t"))
        text = "no idea" if number % 3 == 0 else json.dumps({"word": f"word{self.calls}"})
        return Completion(200, text), 0.0
