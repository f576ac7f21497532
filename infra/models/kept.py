"""The language model of the stages: every answer is kept before it is used, and held to its schema and its check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final, Protocol, TypeVar

from pydantic import ValidationError

from infra.models.asking import Asking, asking_of
from infra.models.completion import Completion
from schemas.base import Model
from schemas.model_result import ModelResult
from schemas.space import Space
from stages.contract import Unavailable
from stages.ports import Request
from streams.codec import explain
from streams.metrics import ModelCounts, ModelUse, Outcome
from streams.results import Results

A = TypeVar("A", bound=Model)

_TRIES: Final = 2
"""A model that errs twice at the same errs the third time as well, and each time costs as much."""

_NO_DATA: Final = "{}"
_SAID: Final = 200

_CUT: Final = {
    "length": "it was cut off at {longest} tokens: be shorter",
    "content_filter": "a filter stopped it",
    "tool_calls": "it called a tool where an answer was wanted",
}
"""What is wrong with an answer by why it ended."""


class Chat(Protocol):
    """An endpoint for chat completions."""

    @property
    def model(self) -> str:
        """What the endpoint calls the model."""
        ...

    async def complete(self, body: Mapping[str, Any], tenant: str) -> tuple[Completion, float]:
        """Return the answer to a body and the seconds that it took; raises ``Unavailable``."""
        ...


class _Unusable(ValueError):  # noqa: N818 - the message is the fault, in words for the model
    """An answer of no use; ``is_final`` says that another try is pointless."""

    def __init__(self, fault: str, *, is_final: bool = False) -> None:
        super().__init__(fault)
        self.is_final = is_final


@dataclass
class KeptLanguageModel:
    """Implements ``LanguageModel`` on an endpoint and on what keeps its answers.

    ``context`` is the most tokens that a prompt and its answer may have together.
    """

    chat: Chat
    results: Results
    context: int = 8192
    counts: ModelCounts = field(default_factory=ModelCounts)

    @property
    def model(self) -> str:
        """Name of the model."""
        return self.chat.model

    async def ask(self, request: Request[A]) -> A | None:
        """Return the answer, validated, or ``None`` if it is of no use after one further try, or over the budget."""
        use = self.counts.of(request.prompt.stage, request.space.tenant)
        calls, fault = use.calls, None
        for attempt in range(_TRIES):
            asking = asking_of(request, fault)
            if asking.tokens > self.context:
                return _counted(use, Outcome.DEGRADED if attempt else Outcome.OVER_BUDGET, None)
            result = await self._answer(request, asking, use)
            try:
                answer = usable(request, result)
            except _Unusable as unusable:
                if unusable.is_final:
                    break
                fault = str(unusable)
                continue
            again = Outcome.REASKED if attempt else Outcome.ANSWERED
            return _counted(use, Outcome.CACHED if use.calls == calls else again, answer)
        return _counted(use, Outcome.DEGRADED, None)

    async def _answer(self, request: Request[Any], asking: Asking, use: ModelUse) -> ModelResult:
        """Return the answer that stands: one that was kept, or a new one when it is."""
        space, key = request.space, asking.key(self.model)
        kept = await self.results.get(space, key)
        if kept is not None:
            return kept
        completion = await self._called(space, asking, use)
        if completion.status != HTTPStatus.OK:
            await self._must_be_of_data(request, use)
        return await self.results.keep(space, key, result_of(self.model, asking, completion))

    async def _must_be_of_data(self, request: Request[Any], use: ModelUse) -> None:
        """Return if it was its data that a request was refused for: without any it is answered.

        Raises:
            Unavailable: if all such requests are refused, which none of them is to blame for and a person can mend.
        """
        bare = Request(request.space, request.prompt, _NO_DATA)
        found = await self._called(bare.space, asking_of(bare), use)
        if found.status != HTTPStatus.OK:
            use.outcomes[Outcome.UNAVAILABLE] += 1
            name, said = request.prompt.name, f"{found.status} {found.text[:_SAID]!r}"
            msg = (
                f"{self.model} refuses {name} whatever its data ({said}): "
                "its endpoint takes not the JSON schema or the parameters of a call: see `anabranch models check`"
            )
            raise Unavailable(msg)

    async def _called(self, space: Space, asking: Asking, use: ModelUse) -> Completion:
        try:
            completion, seconds = await self.chat.complete(asking.body(self.model), space.tenant)
        except Unavailable:
            use.outcomes[Outcome.UNAVAILABLE] += 1
            raise
        use.calls += 1
        use.seconds += seconds
        use.prompt_tokens += completion.prompt_tokens
        use.cached_tokens += completion.cached_tokens
        use.answer_tokens += completion.answer_tokens
        use.prefix_bytes += len(asking.system.encode())
        use.data_bytes += len(asking.user.encode())
        return completion


def usable(request: Request[A], result: ModelResult) -> A:
    """Return what an answer says, if it is of use.

    Raises:
        ValueError: if it is not; the message says why, in words for the model.
    """
    if result.status != HTTPStatus.OK:
        msg = "the request was refused"
        raise _Unusable(msg, is_final=True)
    if result.finish in _CUT:
        raise _Unusable(_CUT[result.finish].format(longest=request.prompt.longest))
    try:
        answer = request.prompt.answer.model_validate_json(result.text)
    except ValidationError as error:
        raise _Unusable(explain(error)) from None
    fault = None if request.check is None else request.check(answer)
    if fault is not None:
        raise _Unusable(fault)
    return answer


def result_of(model: str, asking: Asking, answer: Completion) -> ModelResult:
    """Return an answer as it is kept."""
    return ModelResult(
        model=model,
        prompt=asking.name,
        prompt_version=asking.version,
        status=answer.status,
        text=answer.text,
        finish=answer.finish,
        prompt_tokens=answer.prompt_tokens,
        cached_tokens=answer.cached_tokens,
        answer_tokens=answer.answer_tokens,
    )


def _counted(use: ModelUse, outcome: Outcome, answer: A | None) -> A | None:
    use.outcomes[outcome] += 1
    return answer
