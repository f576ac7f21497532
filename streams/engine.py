"""The only place that performs effects: lanes run stages in order and make what they did durable, cut by cut."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from schemas.committed import Committed
from schemas.header import Header, Skipped
from schemas.space import Space
from stages.contract import WINDOW, Duplicate, Emit, Reject, StageState
from streams.asking import Asking, Crashes
from streams.codec import Codec, codec
from streams.effects import Effects, Gate, Inbound, Outbound, Source
from streams.hand import Hand
from streams.lane import Lane
from streams.letters import Limit, Refusal
from streams.numbering import Refused, is_repeat
from streams.order import Order
from streams.patience import Patience
from streams.preparing import Preparing
from streams.state import StateStore, load
from streams.stopped import BrokenOrder, StageCrashed
from streams.topology import Node
from streams.tracing import NoTracing, Tracing

CUT = 32
"""Events between two cuts: many enough to share a flush, few enough that a crash repeats little."""

_ALONE_S = 0.005
"""Seconds that a lane goes on while others wait."""

In = TypeVar("In")
Out = TypeVar("Out")
State = TypeVar("State", bound=StageState)

_MARKER: Codec[Skipped] = codec(Skipped)
_log = logging.getLogger(__name__)


@dataclass
class Engine(Generic[In, Out, State]):
    """Runs one stage over the lanes of its spaces.

    Effects are written once, in ``_perform``: outputs acknowledged, sink written, state acknowledged, offset
    acknowledged. Nothing else in a worker produces, writes the index or commits.
    """

    node: Node[In, Out, State]
    effects: Effects
    source: Source
    store: StateStore
    gate: Gate
    crashes: Crashes
    is_first: bool = False
    is_last: bool = False
    patience: Patience = field(default_factory=Patience)
    limit: Limit = field(default_factory=Limit)
    hand: Hand = field(default_factory=Hand)
    tracing: Tracing = field(default_factory=NoTracing)
    _order: Order[In] = field(init=False)
    _asking: Asking[In, Out, State] = field(init=False)
    _preparing: Preparing[In, Out, State] = field(init=False)
    _lanes: dict[Space, Lane[State]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._order = Order(self.node, self.source, self.gate, self.patience, self.crashes)
        self._preparing = Preparing(self.node, self.hand, self.is_first)
        self._asking = Asking(self.node.stage, self.patience, self.crashes, self.hand)

    async def run(self, space: Space, records: Sequence[Inbound]) -> None:
        """Prepare and decide at once: what is decided first asks for what is being prepared."""
        self._preparing.read(space, records)
        preparing = asyncio.create_task(self._preparing.prepare(space))
        try:
            await self.advance(space, records)
        finally:
            preparing.cancel()
            (fault,) = await asyncio.gather(preparing, return_exceptions=True)
        if isinstance(fault, Exception):  # a bug of prepare has no effect on results, but shows
            _log.error("%s could not prepare for %r", self.node.name, space, exc_info=fault)

    async def finished(self, space: Space) -> int:
        """Return the offset up to which the lane's input is finished."""
        return (await self._lane(space)).header.offset

    @property
    def lanes(self) -> int:
        """Return how many lanes are in memory."""
        return len(self._lanes)

    def evict(self, space: Space) -> None:
        """Forget an idle lane; its state is read again when it has work."""
        self._lanes.pop(space, None)
        self._preparing.evict(space)

    async def advance(self, space: Space, records: Sequence[Inbound]) -> None:
        """Handle the next records of a space, in order, and make what they did durable.

        Raises:
            Unavailable: if something did not answer for as long as patience lasts.
            StageCrashed: if the stage has a bug that this input shows.
            BrokenOrder: if the input contradicts what was seen.
        """
        lane = await self._lane(space)
        try:
            await self._all(lane, records)
            await self._perform(lane)
        except BaseException:
            self.evict(space)  # what is in memory may be ahead of what is durable
            raise
        finally:
            self._preparing.done(space)

    async def _all(self, lane: Lane[State], records: Sequence[Inbound]) -> None:
        """Handle records, and let other lanes go on now and then: one that has much to do holds nobody up."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        for record in records:
            await self._handle(lane, record)
            if loop.time() - begun > _ALONE_S:
                await asyncio.sleep(0)
                begun = loop.time()

    async def _lane(self, space: Space) -> Lane[State]:
        if space not in self._lanes:
            saved = load(await self.store.load(self.node.name, space))
            stage = self.node.stage
            state = stage.restore(saved.parts) if saved.header.version else stage.initial(space)
            self._lanes[space] = Lane.start(self.node.name, space, state, saved)
        return self._lanes[space]

    async def _handle(self, lane: Lane[State], record: Inbound) -> None:
        if record.trace is None or not self.tracing.on:
            await self._take(lane, record)
        else:
            begun, before = self.tracing.now(), lane.header
            await self._take(lane, record)
            if lane.header.offset > before.offset:  # else it is a repeat, and nothing was done
                lane.trace(record, before, (begun, self.tracing.now()))
        if lane.cut.events >= CUT:
            await self._perform(lane)

    async def _take(self, lane: Lane[State], record: Inbound) -> None:
        if self.is_first:
            await self._enter(lane, record)
        elif record.header is None:
            msg = f"a record of {self.node.source.name} at {record.offset} has no header; replay from the log"
            raise BrokenOrder(msg)
        else:
            await self._follow(lane, record, record.header)

    async def _enter(self, lane: Lane[State], record: Inbound) -> None:
        """Number an event of the log and decide it."""
        if record.offset <= lane.header.offset:
            return
        position = lane.header.position + 1
        numbered = self._preparing.numbered(lane.space, record, position)
        if isinstance(numbered, Refused) and numbered.header is None:
            self._letter(lane, record, Refusal(numbered.reason, numbered.event_id, None))
            return
        await self._admitted(lane, position)
        if isinstance(numbered, Refused):
            await self._refuse(lane, record, Refusal(numbered.reason, numbered.event_id, numbered.header))
        else:
            await self._decide(lane, record, numbered.header, numbered)

    async def _admitted(self, lane: Lane[State], position: int) -> None:
        """Wait until memory is complete up to position - W, so that every later stage can read it as of there."""
        if self.gate.watermark(lane.space) < position - WINDOW:
            await self._perform(lane)
            await self.gate.reached(lane.space, position - WINDOW)

    async def _follow(self, lane: Lane[State], record: Inbound, header: Header) -> None:
        """Handle a numbered record: repeats emit nothing, holes are read again from the input."""
        if is_repeat(header, lane.header):
            return
        if header.position > lane.header.position + 1:
            async with aclosing(self._order.missing(lane, record, header)) as missing:
                async for again in missing:
                    await self._handle(lane, again)
        await self._order.admits(header)
        if record.marker and not self.is_last:
            lane.emit(record, Outbound(header, record.body, marker=True), lettered=True)
        elif record.marker:
            await self._mark(lane, record, header, self._order.decode(record, header))
        else:
            read = self._preparing.take(lane.space, record.offset)
            if read is None and self._order.is_given_up(lane.space, record):
                reason = f"given up: {self.crashes.report(self.node.name, lane.space, record.offset)}"
                await self._refuse(lane, record, Refusal(reason, header.event_id, header, input_fault=False))
                return
            await self._decide(lane, record, header, self._order.decode(record, header) if read is None else read)

    async def _decide(self, lane: Lane[State], record: Inbound, header: Header, message: object) -> None:
        outcome = await self._asking.ask(lane, record, header, message, lambda: self._perform(lane))
        match outcome:
            case Reject(reason=reason, input_fault=input_fault):
                await self._refuse(lane, record, Refusal(reason, header.event_id, header, input_fault))
                return
            case Duplicate() if self.is_first:
                lane.drop(record)
            case Duplicate(reason=reason):
                msg = f"{self.node.name} took {header.event_id!r} of {header.space!r} for a repeat ({reason}): a bug"
                raise StageCrashed(msg)
            case Emit(message=Committed() as event, state=state):
                lane.state = state
                lane.commit(record, event)
            case Emit(message=out, state=state):
                lane.state = state
                lane.emit(record, Outbound(header, self.node.target.codec.encode(out)))
        self.limit.count(self.node.name, lane.space, refused=False)

    def _letter(self, lane: Lane[State], record: Inbound, refusal: Refusal) -> None:
        lane.refuse(self.node.source.name, record, refusal)
        self.limit.count(self.node.name, lane.space, refused=not refusal.input_fault)

    async def _refuse(self, lane: Lane[State], record: Inbound, refusal: Refusal) -> None:
        """Make a letter, and a marker that takes the event's position through the later stages."""
        self._letter(lane, record, refusal)
        if refusal.header is None:
            return
        marker = Skipped(header=refusal.header, stage=self.node.name, reason=refusal.reason.partition("\n")[0])
        if self.is_last:
            await self._mark(lane, record, refusal.header, marker)
        else:
            lane.emit(record, Outbound(refusal.header, _MARKER.encode(marker), marker=True), lettered=True)

    async def _mark(self, lane: Lane[State], record: Inbound, header: Header, marker: object) -> None:
        """Let the last stage write the outcome of an event that became a letter."""
        outcome = await self._asking.ask(lane, record, header, marker, lambda: self._perform(lane))
        if not (isinstance(outcome, Emit) and isinstance(outcome.message, Committed)):
            msg = f"{self.node.name} refused the marker {marker!r} of {lane.space!r}"
            raise StageCrashed(msg)
        lane.state = outcome.state
        lane.commit(record, outcome.message, lettered=True)

    async def _perform(self, lane: Lane[State]) -> None:
        """Make the lane's work durable, in the one order that loses nothing whatever dies in between."""
        if lane.is_clean:
            return
        cut, saved = lane.seal()
        who = f"{self.node.name} of {lane.space!r}"
        await self.patience.ask(who, lambda: self.effects.outputs(cut))
        if cut.committed:
            begun = self.tracing.now()
            await self.patience.ask(who, lambda: self.effects.sink(cut))
            cut.written = begun, self.tracing.now()
        await self.patience.ask(who, lambda: self.effects.state(cut))
        await self.patience.ask(who, lambda: self.effects.offset(cut))
        lane.settle(saved)
        if cut.traced:
            self.tracing.tell(cut.stage, cut.space, cut.traced, cut.written)
