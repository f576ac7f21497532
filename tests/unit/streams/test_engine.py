"""The engine apart from a runtime: repeats, holes, other events at a known position, crashes, the limit on letters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from infra.models import HashEmbedder
from schemas.header import EventKind, Header
from schemas.numbered import Numbered
from schemas.space import Space
from stages.contract import Duplicate, Emit, Reject, Unavailable
from streams.effects import Cut, Inbound
from streams.engine import Engine
from streams.journal import Journal
from streams.letters import Limit
from streams.patience import Patience
from streams.state import StateHeader, StateRow
from streams.stopped import BrokenOrder, StageCrashed, TooManyLetters
from streams.topology import NORMALIZED, TURNS, Node
from tests.fakes.runtime import Home, event
from tests.fakes.stages import FakeLocalize, FakeNormalize, Seen

SPACE = Space("acme/u-1")


@dataclass
class Recorder:
    """Effects, source, state and gate of one stage in memory; ``order`` lists the effects as they came."""

    inputs: list[Inbound] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
    rows: dict[tuple[str, int], StateRow] = field(default_factory=dict)
    crashed: int = 0

    async def read(self, space: Space, after: int, limit: int) -> list[Inbound]:
        return [record for record in self.inputs if record.offset > after][:limit]

    async def load(self, stage: str, space: Space) -> list[StateRow]:
        return list(self.rows.values())

    async def version(self, stage: str, space: Space) -> int:
        return max((row.version for row in self.rows.values()), default=0)

    async def outputs(self, cut: Cut) -> None:
        self.order.append("outputs")
        self.cuts.append(cut)

    async def sink(self, cut: Cut) -> None:
        self.order.append("sink")

    async def state(self, cut: Cut) -> None:
        self.order.append("state")
        self.rows.update({(row.part, row.slot): row for row in cut.state})

    async def offset(self, cut: Cut) -> None:
        self.order.append("offset")

    def watermark(self, space: Space) -> int:
        return 10**9

    async def reached(self, space: Space, position: int) -> None: ...

    def count(self, stage: str, space: Space, offset: int) -> int:
        return 0

    def add(self, stage: str, space: Space, offset: int, report: str) -> int:
        self.crashed += 1
        return self.crashed

    def outcomes(self) -> list[tuple[int, str, bool]]:
        return [(o.header.position, o.header.event_id, o.marker) for cut in self.cuts for o in cut.outputs]


class Picky(FakeNormalize):
    """A normalize that does what a function says for each text."""

    verdict: Callable[[str], object] = staticmethod(lambda text: None)

    async def decide(self, message: Numbered, state: Seen) -> Emit[object, Seen] | Duplicate | Reject:  # type: ignore[override]  # a verdict may be anything
        verdict = type(self).verdict(getattr(message.event, "text", ""))
        if isinstance(verdict, BaseException):
            raise verdict
        return verdict if isinstance(verdict, Reject) else await super().decide(message, state)


def engine(recorder: Recorder, verdict: Callable[[str], object] = lambda text: None) -> Engine:  # type: ignore[type-arg]  # any
    stage = type("Stage", (Picky,), {"verdict": staticmethod(verdict)})(HashEmbedder())
    return Engine(
        node=Node(stage, TURNS, NORMALIZED),
        effects=recorder,
        source=recorder,
        store=recorder,
        gate=recorder,
        crashes=recorder,
        is_first=True,
        patience=Patience(tries=3, first=0.001),
    )


def log(*texts: str, start: int = 1) -> list[Inbound]:
    return [Inbound(start + i, event(SPACE, f"t{start + i}", text)) for i, text in enumerate(texts)]


async def test_effects_come_in_their_one_order() -> None:
    recorder = Recorder()
    await engine(recorder).advance(SPACE, log(*(f"turn {i}" for i in range(70))))
    assert recorder.order == ["outputs", "state", "offset"] * 3
    assert [len(cut.outputs) for cut in recorder.cuts] == [32, 32, 6]


async def test_offsets_not_above_the_state_header_are_repeats() -> None:
    recorder, records = Recorder(), log("one", "two")
    await engine(recorder).advance(SPACE, records)
    await engine(recorder).advance(SPACE, [*records, *log("three", start=3)])
    assert recorder.outcomes() == [(0, "t1", False), (1, "t2", False), (2, "t3", False)]


async def test_unavailable_waits_and_makes_what_is_done_durable_first() -> None:
    recorder, calls = Recorder(), [0]

    def verdict(text: str) -> object:
        calls[0] += text == "two"
        return Unavailable("asleep") if text == "two" and calls[0] < 3 else None

    await engine(recorder, verdict).advance(SPACE, log("one", "two"))
    assert [len(cut.outputs) for cut in recorder.cuts] == [1, 1]
    assert recorder.outcomes() == [(0, "t1", False), (1, "t2", False)]


async def test_unavailable_for_longer_than_patience_loses_nothing() -> None:
    recorder = Recorder()
    with pytest.raises(Unavailable):
        await engine(recorder, lambda text: Unavailable("gone") if text == "two" else None).advance(
            SPACE, log("one", "two")
        )
    await engine(recorder).advance(SPACE, log("one", "two"))
    assert recorder.outcomes() == [(0, "t1", False), (1, "t2", False)]


async def test_the_third_crash_at_a_record_is_a_letter_and_the_space_goes_on() -> None:
    recorder = Recorder()

    def verdict(text: str) -> object:
        return ZeroDivisionError("bug") if text == "two" else None

    for _ in range(2):
        with pytest.raises(StageCrashed, match=r"'t2' \(position 1 of 'acme/u-1'\)"):
            await engine(recorder, verdict).advance(SPACE, log("one", "two", "three"))
    await engine(recorder, verdict).advance(SPACE, log("one", "two", "three"))
    (letter,) = [letter for cut in recorder.cuts for letter in cut.letters]
    assert "ZeroDivisionError" in letter.reason
    assert not letter.input_fault
    assert recorder.outcomes()[-2:] == [(1, "t2", True), (2, "t3", False)]


def follower(recorder: Recorder) -> Engine:  # type: ignore[type-arg]  # any stage
    return Engine(
        node=Node(FakeLocalize(), NORMALIZED, NORMALIZED),  # only order is looked at
        effects=recorder,
        source=recorder,
        store=recorder,
        gate=recorder,
        crashes=recorder,
    )


def markers(positions: Sequence[int], ids: str = "abcdefgh") -> list[Inbound]:
    """Markers are passed on by every stage, so they show the order rules alone."""
    return [
        Inbound(
            offset=10 + position,
            body=b"{}",
            header=Header(space=SPACE, position=position, kind=EventKind.TURN, event_id=ids[position], offset=position),
            marker=True,
        )
        for position in positions
    ]


ORDERS = [
    ("in order", [0, 1, 2], [0, 1, 2]),
    ("repeats emit nothing", [0, 1, 0, 1, 2], [0, 1, 2]),
    ("a hole is read again from the input", [0, 3, 4], [0, 1, 2, 3, 4]),
    ("a hole at the start", [2], [0, 1, 2]),
]


@pytest.mark.parametrize(("what", "fed", "expected"), ORDERS, ids=[order[0] for order in ORDERS])
async def test_positions(what: str, fed: list[int], expected: list[int]) -> None:
    recorder = Recorder(inputs=markers(range(5)))
    await follower(recorder).advance(SPACE, markers(fed))
    assert [position for position, _, _ in recorder.outcomes()] == expected


async def test_a_hole_that_is_not_in_the_input_stops_and_says_the_way_out() -> None:
    with pytest.raises(BrokenOrder, match="replay"):
        await follower(Recorder()).advance(SPACE, markers([0, 2]))


async def test_another_event_at_a_known_position_stops() -> None:
    recorder = Recorder()
    await follower(recorder).advance(SPACE, markers([0, 1]))
    with pytest.raises(BrokenOrder, match="another event"):
        await follower(recorder).advance(SPACE, markers([1], ids="axcdefgh"))


def test_letters_are_limited_when_stages_are_to_blame() -> None:
    limit = Limit()
    for i in range(49):
        limit.count("route", Space(f"a/{i % 12}"), refused=True)
    with pytest.raises(TooManyLetters, match="route"):
        limit.count("route", Space("a/x"), refused=True)


@pytest.mark.parametrize(("spaces", "bad"), [(9, 1.0), (50, 0.4), (50, 0.0)])
def test_letters_are_not_limited_for_few_spaces_or_half_good(spaces: int, bad: float) -> None:
    limit = Limit()
    for i in range(300):
        limit.count("route", Space(f"a/{i % spaces}"), refused=i % 10 < 10 * bad)


def test_state_headers_know_the_ids_of_the_last_w_positions() -> None:
    header = StateHeader()
    for i in range(100):
        header = header.seen(i, i + 1, f"id{i}", header.counts)
    assert header.id_at(99) is not None
    assert header.id_at(36) is not None
    assert header.id_at(35) is None
    assert header.id_at(100) is None


async def test_counts_make_the_sum(tmp_path: Path) -> None:
    home = Home(tmp_path / "log.sqlite")
    home.publish(SPACE, event(SPACE, "a"), event(SPACE, "a"), event(SPACE, "b", " "), b"junk", event(SPACE, "c"))
    await home.run()
    counts = Journal(home.path).header("normalize", SPACE).counts
    assert (counts.emitted, counts.duplicates, counts.lettered, counts.alone) == (2, 1, 1, 1)
