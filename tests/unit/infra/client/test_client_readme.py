"""The client's README runs: each of its snippets, against a gateway that answers."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

import anabranch_client
from tests.fakes.gateway_server import KEY, GatewayServer

README = (Path(__file__).parents[4] / "infra" / "client" / "README.md").read_text()
SNIPPETS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("snippet", SNIPPETS, ids=range(len(SNIPPETS)))
def test_every_snippet_runs(snippet: str, gateway: GatewayServer, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    exec(snippet.replace("http://127.0.0.1:8080", gateway.url).replace("ab_…", KEY), names)  # noqa: S102 - what is tested
    if "ask" in names:
        asyncio.run(names["ask"]("What gave way?"))  # type: ignore[operator]
    if "publish" not in names:  # that one needs a cluster: tests/kafka has it
        assert gateway.asked
        assert capsys.readouterr().out


def test_every_error_is_in_it() -> None:
    errors = [
        name for name, one in vars(anabranch_client).items() if isinstance(one, type) and issubclass(one, Exception)
    ]
    assert [name for name in errors if name not in README] == []
