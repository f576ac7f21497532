"""What is asked of the agents that answer from memory, and what they give: an answer that cites, or the evidence."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from schemas.base import SCHEMA_VERSION, Model, absent
from schemas.memory import RecordKind
from schemas.recall import Hit, Question


class Asked(Model):
    """A question that is to be answered, and what the answer may cost; what is left out is as the settings say.

    ``budget`` counts tokens of evidence in a request to the language model, ``requests`` those requests (each is asked
    once more at most if its answer is of no use; 0: evidence only), ``seconds`` the time that research and answer may
    take together. ``trace`` asks for the steps.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    question: Question
    budget: Annotated[int, Field(ge=100, le=1_000_000)] | None = None
    requests: Annotated[int, Field(ge=0, le=20)] | None = None
    seconds: Annotated[float, Field(gt=0, le=3600)] | None = None
    trace: bool = False


class Confidence(StrEnum):
    """How sure an answer is, by the model's own word; one that is inferred, or of cut research, is never high."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Reason(StrEnum):
    """Why there is no answer."""

    NOT_IN_MEMORY = "not_in_memory"
    """Memory does not say it: there is no evidence, or none of it answers the question."""
    NO_MODEL = "no_model"
    """No language model is configured: the evidence is all there is."""
    MODEL_UNAVAILABLE = "model_unavailable"
    """It did not answer."""
    MODEL_UNUSABLE = "model_unusable"
    """It answered, twice, what is of no use or cites nothing that is there, or the question is too long for it."""
    OUT_OF_BUDGET = "out_of_budget"
    """Not one piece of the evidence fits into the budget of tokens."""
    OUT_OF_REQUESTS = "out_of_requests"
    """No request was left for an answer."""
    OUT_OF_TIME = "out_of_time"
    """The time was over."""
    SUSPECT = "suspect"
    """All evidence is text that reads as instructions to a model, which none is shown."""


class Research(StrEnum):
    """Why the research ended."""

    NONE = "none"
    """There was none: nothing to read, or nobody to read it."""
    ENOUGH = "enough"
    """What was found suffices, by the model's own word."""
    ROUNDS = "rounds"
    """More was wanted, and the rounds were over."""
    NOTHING_NEW = "nothing_new"
    """What was asked further brought nothing new."""
    REQUESTS = "requests"
    """More was wanted, and only the request for the answer was left."""
    TIME = "time"
    """Its part of the time was over."""
    UNUSABLE = "unusable"
    """The model's notes were of no use."""
    UNAVAILABLE = "unavailable"
    """The model did not answer."""


class Citation(Model):
    """What an answer rests on: a record that was found, with the turns that it is evidence of."""

    turn_ids: tuple[str, ...]
    record_id: str
    kind: RecordKind
    speaker: str | None
    at: AwareDatetime
    text: str


class StepKind(StrEnum):
    """A step of the two agents (AdaMem 3.4)."""

    PLAN = "plan"
    SEARCH = "search"
    INTEGRATE = "integrate"
    ANSWER = "answer"


class Step(Model):
    """A step as it was taken; what does not apply to it is left out.

    ``queries`` are what a plan asks, a search asked, or the notes ask further; ``turn_ids`` what a search found, the
    notes rest on or the answer cites; ``prompt`` what the model was asked by; ``outcome`` what came of it.
    """

    step: StepKind
    outcome: str
    prompt: Annotated[str | None, Field(exclude_if=absent)] = None
    queries: Annotated[tuple[str, ...], Field(exclude_if=absent)] = ()
    turn_ids: Annotated[tuple[str, ...], Field(exclude_if=absent)] = ()
    summary: Annotated[str, Field(exclude_if=absent)] = ""


class Used(Model):
    """What an answer took: searches, requests to the model, and the tokens of evidence shown in these together.

    ``refused`` counts citations that the model invented, ``withheld`` records that read as instructions to a model and
    were not shown to it, ``unshown`` records that the budget had no room for.
    """

    searches: int = 0
    requests: int = 0
    rounds: int = 0
    tokens: int = 0
    refused: int = 0
    withheld: int = 0
    unshown: int = 0


class Answer(Model):
    """An answer and what it rests on, or, where ``answer`` is null, the evidence and the ``reason``.

    ``inferred`` says that the evidence suggests it rather than says it. ``stale`` and ``behind`` are those of a recall.
    """

    id: str | None
    answer: str | None
    reason: Reason | None
    confidence: Confidence | None
    inferred: bool
    citations: tuple[Citation, ...]
    evidence: tuple[Hit, ...]
    research: Research
    stale: bool
    behind: int
    took_ms: float
    used: Used
    degraded: Annotated[tuple[str, ...], Field(exclude_if=absent)] = ()
    trace: Annotated[tuple[Step, ...], Field(exclude_if=absent)] = ()
