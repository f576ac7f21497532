"""Whether a language model answers and follows a schema: for ``doctor`` and ``models check``."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import Field

from infra.cli.checks import Check, Verdict, pinned
from infra.errors import AnabranchError
from infra.reindex.pointer import current_folder
from infra.settings import Settings
from schemas.base import Model
from schemas.space import Space
from stages.contract import Unavailable
from stages.ports import Request
from stages.prompts import Prompt, as_data

if TYPE_CHECKING:
    from schemas.model_result import ModelResult

NAME: Final = "language"
_SPACE: Final = Space("anabranch/check")
_NOTED: Final = "language_model"


_Short = Annotated[str, Field(min_length=1, max_length=80)]


class _Step(Model):
    """Why so."""

    text: _Short
    kind: Literal["known", "guessed"]


class _Told(Model):
    """The answer wanted: small, of no form that a model falls into by itself, by all keywords that stages use."""

    verdict: Literal["yes", "no"]
    steps: Annotated[tuple[_Step, ...], Field(max_length=3)]
    sources: Annotated[tuple[_Short, ...], Field(min_length=1, max_length=2)]


_PROMPT: Final = Prompt(
    "check.schema", 2, "Answer the question in the data, by the JSON schema that you are given.", _Told, 200
)


@dataclass(frozen=True, slots=True)
class Tried:
    """What an endpoint answered: ``fault`` says why that was of no use (``None``: it follows the schema)."""

    result: ModelResult
    seconds: float
    fault: str | None

    def told(self) -> str:
        """Say it in a line."""
        tokens = f"{self.result.prompt_tokens} tokens in, {self.result.answer_tokens} out"
        return f"{self.result.model} answers in {self.seconds:.2f} s ({tokens})"


async def tried(settings: Settings) -> Tried:
    """Ask the language model of the settings one tiny question by a schema. Nothing is kept.

    Raises:
        Unavailable: if it does not answer.
        AnabranchError: if none is named, or the HTTP client is not installed.
    """
    from infra.language_models import chat_endpoint  # noqa: PLC0415 - `--help` must not load the client
    from infra.models.asking import asking_of  # noqa: PLC0415
    from infra.models.kept import result_of, usable  # noqa: PLC0415

    chat = chat_endpoint(settings)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(chat.close)
        request = Request(_SPACE, _PROMPT, as_data({"question": "Is seven greater than three?"}))
        asking = asking_of(request)
        completion, seconds = await chat.complete(asking.body(chat.model), _SPACE.tenant)
    result = result_of(chat.model, asking, completion)
    try:
        usable(request, result)
    except ValueError as fault:
        return Tried(result, seconds, f"{fault}: {result.text[:200]!r}")
    return Tried(result, seconds, None)


async def language(settings: Settings) -> Check:
    """Say which language model is set, whether it answers and follows a schema, and which one memory was made with."""
    other = _another(settings)
    if settings.language_model is None:
        if other is None:
            return Check(NAME, Verdict.FINE, "none is set: rules alone")
        return Check(NAME, Verdict.ODD, f"none is set: rules alone; {other[0]}", other[1])
    try:
        found = await tried(settings)
    except (Unavailable, AnabranchError) as error:
        return Check(NAME, Verdict.WRONG, str(error), "turns wait until it answers, or unset ANABRANCH_LANGUAGE_MODEL")
    if found.fault is not None:
        advice = "rules stand in for such answers; serve it with structured outputs, or name another model"
        return Check(NAME, Verdict.ODD, f"{found.told()}, but not by the schema: {found.fault}", advice)
    if other is not None:
        return Check(NAME, Verdict.ODD, f"{found.told()}; {other[0]}", other[1])
    return Check(NAME, Verdict.FINE, f"{found.told()} and follows a schema")


def _another(settings: Settings) -> tuple[str, str] | None:
    """Return what there is to say where a home's memory was last written with another model than the one named."""
    from infra.address import Address  # noqa: PLC0415

    noted = pinned(current_folder(settings.home), _NOTED) if settings.kafka is None else None
    named = None if settings.language_model is None else Address.of_setting(settings.language_model).model
    if noted is None or noted == named:
        return None
    advice = "new turns are read by what is set now; `anabranch reindex --derive` reads the old ones anew as well"
    return f"the home was last written with {noted}", advice
