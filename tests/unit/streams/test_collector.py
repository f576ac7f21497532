"""The collector of cycles: it looks seldom while events flow, and is left as it was."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from streams.collector import YOUNG, seldom
from streams.embedded import Embedded
from tests.fakes.runtime import Home, event

SPACE = "acme/u-1"


@pytest.fixture(autouse=True)
def own_pace() -> Iterator[None]:
    """Give the collector Python's own pace, which `tests/conftest.py` took from it: else nothing here could fail."""
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


async def test_the_collector_looks_seldom_while_events_flow_and_as_before_afterwards(tmp_path: Path) -> None:
    before, seen = gc.get_threshold(), set[int]()

    class Watching(Embedded):
        def _done(self, *given: object) -> None:
            seen.add(gc.get_threshold()[0])
            super()._done(*given)  # type: ignore[arg-type]  # passes on what it was given

    home = Home(tmp_path / "log.sqlite")
    home.publish(SPACE, event(SPACE, "a"))
    await home.run(Watching)
    assert (seen, gc.get_threshold()) == ({YOUNG}, before)


@pytest.mark.parametrize("chosen", [0, YOUNG + 1])
def test_a_program_that_wants_even_less_of_the_collector_gets_that(chosen: int) -> None:
    before = gc.get_threshold()
    try:
        gc.set_threshold(chosen, 5, 5)
        with seldom():
            assert gc.get_threshold() == (chosen, 5, 5)
        assert gc.get_threshold() == (chosen, 5, 5)
    finally:
        gc.set_threshold(*before)
