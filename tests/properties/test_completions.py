"""Whatever an endpoint sends, it is an answer or none; whatever a model says, a request ends."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from infra.models.asking import estimated
from infra.models.completion import Completion, completion_of
from infra.models.kept import KeptLanguageModel
from schemas.model_result import ModelResult
from stages.contract import Unavailable
from streams.metrics import Outcome
from tests.fakes.asked_model import Mood, request
from tests.fakes.results import MemoryResults

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
PART = st.fixed_dictionaries({}, optional={"message": JSON, "finish_reason": JSON})
NEAR = st.fixed_dictionaries({}, optional={"choices": st.lists(PART, max_size=2) | JSON, "usage": JSON})
BODIES = (
    st.binary(max_size=200)
    | JSON.map(lambda value: json.dumps(value).encode())
    | NEAR.map(lambda value: json.dumps(value).encode())
)
HEADERS = st.dictionaries(st.just("retry-after"), st.text(max_size=30), max_size=1)


@given(status=st.integers(100, 599), headers=HEADERS, body=BODIES)
def test_a_response_is_an_answer_or_none(status: int, headers: Mapping[str, str], body: bytes) -> None:
    try:
        answer = completion_of("http://h/v1", status, headers, body)
    except Unavailable:
        return
    kept = ModelResult(model="m", prompt="a.b", prompt_version=1, status=answer.status, text=answer.text)
    assert ModelResult.model_validate_json(kept.model_dump_json()) == kept


class Saying:
    """An endpoint that says these texts one after the other."""

    model = "m"

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)

    async def complete(self, body: Mapping[str, Any], tenant: str) -> tuple[Completion, float]:
        return Completion(200, self.texts.pop(0)), 0.0


SAID = st.text(max_size=60) | JSON.map(json.dumps) | st.just('{"mood": "ill"}')


@settings(max_examples=60)
@given(first=SAID, second=SAID)
async def test_a_request_ends_with_an_answer_or_none(first: str, second: str) -> None:
    model = KeptLanguageModel(Saying(first, second), MemoryResults())
    answer = await model.ask(request())
    assert answer is None or isinstance(answer, Mood)
    assert await model.ask(request()) == answer
    outcomes = model.counts.total().outcomes
    assert sum(outcomes.values()) == 2
    assert outcomes[Outcome.DEGRADED] == (2 if answer is None else 0)


@given(st.text(max_size=200), st.text(max_size=200))
def test_the_estimate_grows_with_the_text(one: str, other: str) -> None:
    assert 0 <= estimated(one) <= estimated(one + other) <= estimated(one) + estimated(other)
    assert estimated(one) <= len(one.encode("utf-8", "surrogatepass"))
