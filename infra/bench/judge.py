"""A language model as a judge of answers: optional, its prompt printed with its figures, its verdict read strictly."""

from __future__ import annotations

import hashlib
from typing import Annotated, Final, Literal

from pydantic import Field

from schemas.base import Model
from schemas.space import Space
from stages.ports import LanguageModel, Request
from stages.prompts import as_data, load_prompt


class Verdict(Model):
    """What the judge says of an answer. The reason comes first, so that the verdict follows from it."""

    reason: Annotated[str, Field(max_length=600)]
    verdict: Literal["CORRECT", "WRONG"]


PROMPT: Final = load_prompt("infra.bench", "judge", 1, Verdict, 256)


async def judged(model: LanguageModel, space: Space, question: str, gold: str, answer: str) -> float | None:
    """Return 1 for a correct answer, 0 for a wrong one, ``None`` where the judge gave no verdict that can be read.

    What can't be read is never counted as right, nor as wrong: a table says how many there were.

    Raises:
        Unavailable: if the model does not answer.
    """
    data = as_data({"question": question, "gold": gold, "answer": answer})
    said = await model.ask(Request(space, PROMPT, data))
    return None if said is None else float(said.verdict == "CORRECT")


def described(model: LanguageModel) -> str:
    """Return what is printed with the judge's figures: the model, and its prompt with version and SHA-256."""
    digest = hashlib.sha256(PROMPT.text.encode()).hexdigest()
    return f"judge {model.model}   prompt {PROMPT.name}.v{PROMPT.version} sha256 {digest[:16]}\n\n{PROMPT.text}"
