"""Every contract test of an index runs on each implementation of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from infra.qdrant.process import Address
from tests.fakes.folders import quick_folder
from tests.fakes.index_suite import (
    FACTORIES,
    Index,
    Opener,
    close_index,
    fresh_alias,
    server_index,
)
from tests.fakes.qdrant_server import address

__all__ = ["address"]


@pytest.fixture(params=[*FACTORIES, "server", "server over REST"])
def opener(request: pytest.FixtureRequest) -> Iterator[Opener]:
    if request.param in FACTORIES:
        with quick_folder() as folder:
            yield FACTORIES[request.param](folder)
    else:
        server: Address = request.getfixturevalue("address")
        with fresh_alias(server) as alias:
            yield server_index(server, alias, over_rest=request.param.endswith("REST"))


@pytest.fixture
async def index(opener: Opener) -> AsyncIterator[Index]:
    opened = await opener()
    yield opened
    await close_index(opened)
