"""An engine whose every port is a recorder in memory, over stages that do as they are told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from infra.models import HashEmbedder
from schemas.header import EventKind, Header
from schemas.numbered import Numbered
from schemas.space import Space
from stages.contract import Duplicate, Emit, Reject
from streams.effects import Cut, Inbound
from streams.engine import Engine
from streams.patience import Patience
from streams.state import StateRow
from streams.topology import LOCALIZE_STATE, NORMALIZE, AnyNode
from tests.fakes.runtime import event
from tests.fakes.stages import FakeLocalize, FakeNormalize, Seen

SPACE = Space("acme/u-1")


@dataclass
class Recorder:
    """Effects, source, state and gate of one stage in memory; ``order`` lists the effects as they came.

    ``complete`` is the watermark that the gate shows.
    """

    inputs: list[Inbound] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
    rows: dict[tuple[str, int], StateRow] = field(default_factory=dict)
    crashed: int = 0
    said: str = ""
    complete: int = 10**9

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
        return self.complete

    async def look(self, space: Space) -> int:
        return self.complete

    async def reached(self, space: Space, position: int) -> None: ...

    def count(self, stage: str, space: Space, offset: int) -> int:
        return 0

    def add(self, stage: str, space: Space, offset: int, report: str) -> int:
        self.crashed += 1
        self.said = report
        return self.crashed

    def report(self, stage: str, space: Space, offset: int) -> str:
        return self.said

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


def wired(recorder: Recorder, node: AnyNode, *, is_first: bool = False, is_last: bool = False) -> Engine:  # type: ignore[type-arg]  # any stage
    """An engine whose every port is the recorder."""
    return Engine(
        node=node,
        effects=recorder,
        source=recorder,
        store=recorder,
        gate=recorder,
        crashes=recorder,
        patience=Patience(tries=3, first=0.001),
        is_first=is_first,
        is_last=is_last,
    )


def engine(recorder: Recorder, verdict: Callable[[str], object] = lambda text: None) -> Engine:  # type: ignore[type-arg]  # any
    stage = type("Stage", (Picky,), {"verdict": staticmethod(verdict)})(HashEmbedder())
    return wired(recorder, NORMALIZE.run_by(stage), is_first=True)


def log(*texts: str, start: int = 1) -> list[Inbound]:
    return [Inbound(start + i, event(SPACE, f"t{start + i}", text)) for i, text in enumerate(texts)]


def follower(recorder: Recorder) -> Engine:  # type: ignore[type-arg]  # any stage
    return wired(recorder, LOCALIZE_STATE.run_by(FakeLocalize()))


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
