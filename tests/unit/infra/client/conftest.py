"""A gateway, and both clients of it behind one way of calling them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from anabranch_client import AsyncClient, Client, Retries, Timeouts
from tests.fakes.gateway_server import KEY, GatewayServer, serving

Call = Callable[..., Any]
"""``call("publish", space, turn)`` on a client, and its answer."""


@pytest.fixture
def gateway() -> Iterator[GatewayServer]:
    with serving() as one:
        yield one


@pytest.fixture(params=["sync", "async"])
def connect(request: pytest.FixtureRequest) -> Iterator[Callable[..., Call]]:
    """Give what connects to an address with either client."""
    with ExitStack() as stack:

        def connected(url: str, key: str | None = KEY, **options: Any) -> Call:
            options.setdefault("retries", Retries(0.001, 0.01, 10.0))
            options.setdefault("timeouts", Timeouts(5.0, 5.0))
            if request.param == "sync":
                client = stack.enter_context(Client(url, key, **options))
                return lambda name, *args, **how: getattr(client, name)(*args, **how)
            runner = stack.enter_context(asyncio.Runner())
            aclient = AsyncClient(url, key, **options)
            stack.callback(lambda: runner.run(aclient.close()))
            return lambda name, *args, **how: runner.run(getattr(aclient, name)(*args, **how))

        yield connected
