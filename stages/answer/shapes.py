"""What a language model is asked in this stage, and the shapes of its answers: small, every array bounded."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field, StringConstraints

from schemas.answer import Confidence
from schemas.base import Model
from stages.prompts import Prompt, load_prompt

MOST_QUERIES: Final = 3
"""Searches that a plan or notes may ask for (AdaMem, E.5)."""

_PACKAGE: Final = "stages.answer"
_Query = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"\S")]
_Queries = Annotated[tuple[_Query, ...], Field(max_length=MOST_QUERIES)]


class Plan(Model):
    """What to search for beside the question itself."""

    queries: _Queries = ()


class Notes(Model):
    """The evidence so far in a few sentences, and whether it suffices; ``sources`` are numbers of pieces."""

    summary: Annotated[str, StringConstraints(max_length=1500)]
    sources: Annotated[tuple[int, ...], Field(max_length=16)]
    enough: bool
    follow_ups: _Queries = ()


class Reply(Model):
    """The answer as the model gives it; ``cites`` are numbers of pieces."""

    found: bool
    cites: Annotated[tuple[int, ...], Field(max_length=8)]
    answer: Annotated[str, StringConstraints(max_length=600)]
    inferred: bool
    confidence: Confidence


PLAN: Final = load_prompt(_PACKAGE, "plan", 1, Plan, longest=200)
INTEGRATE: Final = load_prompt(_PACKAGE, "integrate", 1, Notes, longest=700)
REPLY: Final = load_prompt(_PACKAGE, "reply", 1, Reply, longest=300)

PROMPTS: Final[tuple[Prompt[Any], ...]] = (PLAN, INTEGRATE, REPLY)
"""All of them, for figures that name what they rest on."""
