"""Requests made from the OpenAPI document, valid and broken ones: never a fault of ours, and never half a write."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from infra.home import LOG
from schemas.turn import Turn
from streams.codec import decode_event
from tests.fakes.gateway import keyed, running, settings_of

CHECKS: list[Any] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
SPACE = {"tenant": "acme", "space": "u"}
BOUNDED = examples(
    max_examples=12,
    derandomize=True,  # the same requests at each run
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@dataclass(frozen=True)
class Fuzzed:
    schema: Any
    client: httpx.Client
    log: Path
    headers: dict[str, str]

    def logged(self) -> list[bytes]:
        with sqlite3.connect(self.log) as file:
            return [body for (body,) in file.execute("SELECT body FROM log ORDER BY seq")]


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuzzed]:
    settings = settings_of(tmp_path_factory.mktemp("fuzz"), gateway_rate=100_000.0)
    with running(settings) as server:
        schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
        headers = keyed(settings)
        with httpx.Client(base_url=server.url, headers=headers, timeout=60) as client:
            yield Fuzzed(schema, client, settings.home / LOG, headers)


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode))
@pytest.mark.parametrize("route", ["turns", "recall", "answer", "context"])
def test_no_body_that_the_document_suggests_is_too_much(
    route: str, mode: schemathesis.GenerationMode, fuzzed: Fuzzed
) -> None:
    """What is answered with 202 is in the log whole, and nothing else is."""
    operation = fuzzed.schema["/v1/spaces/{tenant}/{space}/" + route]["POST"]
    statuses: list[int] = []
    accepted = [decode_event(body) for body in fuzzed.logged()]
    before = len(accepted)

    @BOUNDED
    @given(case=operation.as_strategy(generation_mode=mode, path_parameters=SPACE))
    def ask(case: schemathesis.Case[Any]) -> None:
        answer = case.call(headers=fuzzed.headers)
        case.validate_response(answer, checks=CHECKS)
        statuses.append(answer.status_code)
        after = [decode_event(body) for body in fuzzed.logged()]
        new = [event.turn_id for event in after[len(accepted) :] if isinstance(event, Turn)]
        assert new == (answer.json()["turn_ids"] if answer.status_code == 202 else [])
        accepted[:] = after

    ask()
    assert len(statuses) >= 8
    if mode is schemathesis.GenerationMode.POSITIVE:
        assert any(200 <= status < 300 for status in statuses)
    else:
        assert any(400 <= status < 500 for status in statuses)
    assert (len(accepted) > before) == (route == "turns" and 202 in statuses)


@BOUNDED
@given(name=st.text(min_size=1, max_size=300), space=st.text(min_size=1, max_size=20))
def test_any_address_has_an_answer(fuzzed: Fuzzed, name: str, space: str) -> None:
    told = quote(name.encode("utf-8", "surrogatepass"), safe="")
    for where in ("u", quote(space.encode("utf-8", "surrogatepass"), safe="")):
        answer = fuzzed.client.get(f"/v1/spaces/acme/{where}/turns/{told}")
        assert answer.status_code in {200, 404, 405}


@BOUNDED
@given(body=st.binary(max_size=200))
def test_any_bytes_have_an_answer(fuzzed: Fuzzed, body: bytes) -> None:
    before = len(fuzzed.logged())
    for route in ("turns", "recall", "answer", "context"):
        answer = fuzzed.client.post(f"/v1/spaces/acme/u/{route}", content=body)
        assert answer.status_code in {400, 422}
    assert len(fuzzed.logged()) == before
