"""What z_t by a model costs on the bundled conversation, in tokens of some four bytes (fault 14: a budget a turn)."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean
from typing import Any

from schemas.normalized import Normalized
from schemas.turn import Turn
from stages.contract import Emit
from stages.normalize import Normalize
from stages.ports import Request
from tests.fakes.embedder import DigestEmbedder
from tests.fakes.history import MemoryHistory
from tests.fakes.language_model import Scripted
from tests.fakes.talk import Talk

TURNS = Path(__file__).parents[4] / "infra" / "demo" / "conversation.jsonl"
_BYTES = 4
"""Bytes of a token, about, in English."""


def tokens(text: str) -> float:
    return len(text.encode()) / _BYTES


def answer_of(message: Normalized) -> dict[str, Any]:
    """Return what a model would have to say to come to the same z_t as the rules: about as long as a real answer."""
    z = message.z
    return {
        "topic": z.topic,
        "attitude": z.attitude.value,
        "reason": z.reason.text if z.reason else "",
        "facts": [each.text for each in z.facts][:8],
        "attributes": [each.text for each in z.attributes][:6],
        "summary": z.summary[:240],
    }


async def test_a_turn_costs_one_call_and_most_of_its_prompt_is_what_all_have_in_common() -> None:
    plain, spent, answers = Talk(), list[Request[Any]](), dict[str, dict[str, Any]]()

    def say(request: Request[Any]) -> object:
        spent.append(request)
        return answers[json.loads(request.data)["turn"]["text"]]

    talk = Talk(Normalize(DigestEmbedder(), MemoryHistory(), language=Scripted(say)))
    degraded = 0
    for line in TURNS.read_text().splitlines():
        turn = Turn.model_validate_json(line)
        outcome = await plain.say(turn)
        assert isinstance(outcome, Emit)
        assert isinstance(outcome.message, Normalized)
        answers[outcome.message.text] = answer_of(outcome.message)
        degraded += (await talk.hear(turn)).degraded
    stable = tokens(spent[0].prompt.text)
    data = [tokens(request.data) for request in spent]
    said = [tokens(json.dumps(one, ensure_ascii=False, separators=(",", ":"))) for one in answers.values()]
    share = stable / (stable + mean(data))
    assert (len(spent), degraded) == (120, 0)
    assert mean(data) < 350
    assert mean(said) < 150
    assert share > 0.7
