"""Messages passed on in a process: what the next stage is given is what it would have read, and never more of them."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from schemas.header import EventKind, Header
from schemas.space import Space
from streams import passing as module
from streams.collector import YOUNG, seldom
from streams.effects import Cut, Inbound, Outbound
from streams.embedded import Embedded
from streams.passing import Passing
from tests.fakes.comparing import Comparing
from tests.fakes.runtime import Home, event

SPACE = Space("acme/u-1")
LOG = [event(SPACE, str(i), f"I moved to Lyon in May, turn {i}" if i % 7 else " ") for i in range(150)]


def header(position: int) -> Header:
    return Header(space=SPACE, position=position, kind=EventKind.TURN, event_id=f"t{position}", offset=position)


def cut(*positions: int) -> Cut:
    outputs = [Outbound(header(position), b"{}", message=f"message {position}") for position in positions]
    return Cut("normalize", SPACE, outputs)


def record(position: int) -> Inbound:
    return Inbound(position + 1, b"{}", header(position))


def given(passing: Passing, *positions: int, topic: str = "a", space: Space = SPACE) -> list[object]:
    return [one.message for one in passing.join(topic, space, [record(position) for position in positions])]


def test_a_message_goes_to_its_own_record_and_once() -> None:
    passing = Passing()
    passing.keep("a", cut(0, 1))
    assert given(passing, 0, 1, topic="b") == [None, None]
    assert given(passing, 0, 1, space=Space("acme/u-2")) == [None, None]
    assert given(passing, 1, 0, 2) == ["message 1", "message 0", None]
    assert given(passing, 0, 1) == [None, None], "a record that is read again is read from its bytes"


def test_markers_and_events_without_a_number_have_none() -> None:
    passing = Passing()
    passing.keep("a", Cut("normalize", SPACE, [Outbound(header(0), b"{}", marker=True)]))
    assert passing.join("a", SPACE, [record(0), Inbound(2, b"{}")]) == [record(0), Inbound(2, b"{}")]


def test_at_most_so_many_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST", 2)
    passing = Passing()
    passing.keep("a", cut(0, 1, 2))
    assert given(passing, 2, 1, 0) == [None, "message 1", "message 0"]
    passing.keep("a", cut(3))
    passing.clear()
    assert given(passing, 3) == [None]


async def test_what_is_passed_on_is_what_the_bytes_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    passing = Comparing()
    monkeypatch.setattr("streams.embedded.Passing", lambda: passing)
    home = Home(tmp_path / "log.sqlite")
    home.publish(SPACE, *LOG)
    await home.run()
    turns = len(LOG) - len(LOG[::7])
    assert passing.compared == 4 * turns, "a message of each turn is passed on four times"


async def test_without_it_memory_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    homes = [Home(tmp_path / f"{name}.sqlite") for name in ("with", "without")]
    for home, most in zip(homes, (module._MOST, 0), strict=True):
        monkeypatch.setattr(module, "_MOST", most)
        home.publish(SPACE, *LOG)
        await home.run()
    assert homes[0].memory(SPACE) == homes[1].memory(SPACE)


async def test_a_message_that_is_not_its_bytes_would_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison above can fail: here each record is given the message of another."""

    class Mixed(Comparing):
        def keep(self, topic: str, cut: Cut) -> None:
            super().keep(topic, cut)
            names = list(self._messages)
            self._messages = dict(zip(names, reversed(self._messages.values()), strict=True))

    monkeypatch.setattr("streams.embedded.Passing", Mixed)
    home = Home(tmp_path / "log.sqlite")
    home.publish(SPACE, *LOG)
    with pytest.raises(AssertionError):
        await home.run()


async def test_the_collector_looks_seldom_while_events_flow_and_as_before_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, seen = gc.get_threshold(), set[int]()

    class Watching(Embedded):
        def _done(self, *given: object) -> None:
            seen.add(gc.get_threshold()[0])
            super()._done(*given)  # type: ignore[arg-type]  # passes on what it was given

    home = Home(tmp_path / "log.sqlite")
    home.publish(SPACE, *LOG[:5])
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
