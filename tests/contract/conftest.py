"""Every contract test of an index runs on each implementation of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.fakes.folders import quick_folder
from tests.fakes.index_suite import (
    FACTORIES,
    Index,
    Opener,
    close_index,
)


@pytest.fixture(params=FACTORIES)
def opener(request: pytest.FixtureRequest) -> Iterator[Opener]:
    with quick_folder() as folder:
        yield FACTORIES[request.param](folder)


@pytest.fixture
async def index(opener: Opener) -> AsyncIterator[Index]:
    opened = await opener()
    yield opened
    await close_index(opened)
