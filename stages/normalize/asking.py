"""z_t by a language model: what it is asked of a turn, and the answer that it is held to (AdaMem 3.2, E.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, StringConstraints

from schemas.base import Model
from schemas.normalized import Attitude
from schemas.turn import Turn
from stages.normalize.clean import label
from stages.normalize.heard import Heard
from stages.normalize.quoted import located
from stages.normalize.reading import Sentence
from stages.ports import Request
from stages.prompts import as_data, load_prompt

SCOPE = 4_000
"""Characters of a turn that are shown: a person says no more, and a document's further sentences go by rules."""

Quote = Annotated[str, StringConstraints(max_length=400)]


class Answer(Model):
    """What a model says of a turn. ``reason`` (empty: none), ``facts`` and ``attributes`` quote the turn."""

    topic: Annotated[str, StringConstraints(max_length=80)]
    attitude: Attitude
    reason: Quote
    facts: Annotated[tuple[Quote, ...], Field(max_length=8)]
    attributes: Annotated[tuple[Quote, ...], Field(max_length=6)]
    summary: Annotated[str, StringConstraints(max_length=400)]

    def quotes(self) -> tuple[str, ...]:
        """Return all that claims to be said in the turn."""
        return tuple(each for each in (self.reason, *self.facts, *self.attributes) if each.strip())


UNDERSTAND = load_prompt("stages.normalize", "understand", 1, Answer, longest=1000)


def scope(text: str, sentences: Sequence[Sentence]) -> int:
    """Return how many characters of ``text`` are shown: up to a sentence end, if there is one."""
    if len(text) <= SCOPE:
        return len(text)
    return max((each.end for each in sentences if each.end <= SCOPE), default=SCOPE)


def request(turn: Turn, shown: str, before: Sequence[Heard]) -> Request[Answer]:
    """Return what is asked of a cleaned turn, of whose text ``shown`` is shown, after the turns ``before``."""
    said = {"speaker": label(turn.speaker), "role": turn.speaker.role.value, "text": shown}
    return Request(
        space=turn.space,
        prompt=UNDERSTAND,
        data=as_data({"before": [each.shown() for each in before], "turn": said}),
        check=lambda answer: _complaint(answer, shown),
    )


def _complaint(answer: Answer, shown: str) -> str | None:
    """Say what is wrong with an answer of the right shape."""
    if not any(char.isalnum() for char in answer.summary):
        return "`summary` is empty: it must be one sentence that says what the message tells."
    quotes = answer.quotes()
    if quotes and not any(located(shown, each) for each in quotes):
        return f"Nothing that you quote is in `turn.text`, {quotes[0][:80]!r} for one: copy exactly, or leave out."
    return None
