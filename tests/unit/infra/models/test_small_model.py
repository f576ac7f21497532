"""A real language model, and a bad one: whatever it says, a request ends, and is counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import Field

from infra.address import Address
from infra.models.chat import ChatEndpoint
from infra.models.kept import KeptLanguageModel
from schemas.base import Model
from stages.ports import Request
from stages.prompts import Prompt, as_data
from streams.metrics import Outcome
from tests.fakes.asked_model import ACME
from tests.fakes.results import MemoryResults
from tests.fakes.small_model import small_model

TEXTS = ("I live in Oslo.", "\N{SNOWMAN}!")


class Taken(Model):
    """What a stage might want of a turn."""

    attitude: Literal["wants", "knows", "doubts", "none"]
    quotes: Annotated[tuple[Annotated[str, Field(max_length=20)], ...], Field(max_length=1)]


PROMPT = Prompt("normalize.taken", 1, "Give the attitude, and quote words.", Taken, 24)


async def test_a_real_model_never_breaks_anything() -> None:
    with small_model() as url:
        chat = ChatEndpoint(url, Address.of_setting(f"openai:{url}#small").model)
        model = KeptLanguageModel(chat, MemoryResults())
        for text in TEXTS:
            asked = Request(ACME, PROMPT, as_data({"turn": text}), check=_quoting(text))
            answer = await model.ask(asked)
            assert answer == await model.ask(asked)
        await chat.close()
    total = model.counts.total()
    assert len(TEXTS) <= total.calls <= 2 * len(TEXTS)
    assert total.outcomes[Outcome.UNAVAILABLE] == 0
    assert sum(total.outcomes.values()) == 2 * len(TEXTS)
    assert total.prompt_tokens > 0
    assert total.answer_tokens > 0


def _quoting(text: str) -> Callable[[Taken], str | None]:
    def check(taken: Taken) -> str | None:
        lacking = [quote for quote in taken.quotes if quote not in text]
        return f"{lacking[0]!r} is not in the turn: quote its own words" if lacking else None

    return check
