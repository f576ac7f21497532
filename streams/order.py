"""Numbered input as a later stage has to find it: complete, in order, and as far as memory is complete for."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from schemas.header import Header
from schemas.space import Space
from stages.contract import WINDOW
from streams.asking import CRASHES, Crashes
from streams.codec import Malformed
from streams.effects import Gate, Inbound, Source
from streams.lane import Lane
from streams.numbering import must_go_on
from streams.patience import Patience
from streams.stopped import BrokenOrder
from streams.topology import Node

_AGAIN: Final = 32
"""Records of a hole that are read at once."""

In = TypeVar("In")


@dataclass(frozen=True, slots=True)
class Order(Generic[In]):
    """The rules of a stage's input; its fields are the engine's own."""

    node: Node[In, Any, Any]
    source: Source
    gate: Gate
    patience: Patience
    crashes: Crashes

    async def admits(self, header: Header) -> None:
        """Check that memory is complete for an event: the first stage has let nothing in for which it is not.

        Raises:
            Unavailable: if the index did not answer for as long as patience lasts.
            BrokenOrder: if memory is not complete.
        """
        if self.gate.watermark(header.space) >= header.position - WINDOW:
            return
        who = f"{self.node.name} at {header.event_id!r} of {header.space!r}"
        complete = await self.patience.ask(who, lambda: self.gate.look(header.space))
        if complete < header.position - WINDOW:
            who = f"{self.node.name} was given {header.position} of {header.space!r}"
            msg = f"{who} while memory is complete to {complete} only; replay the space from its log"
            raise BrokenOrder(msg)

    async def missing(self, lane: Lane[Any], record: Inbound, header: Header) -> AsyncGenerator[Inbound, None]:
        """Give what lies between the lane's last event and this record, read again; each is handled before the next.

        Raises:
            BrokenOrder: if it is not there any more.
        """
        after = lane.header.offset
        while lane.header.position < header.position - 1:
            read = await self.source.read(lane.space, after, _AGAIN)
            found = [again for again in read if after < again.offset < record.offset]
            must_go_on(lane.header.position + 1, header, found, f"{self.node.name} of {self.node.source.name}")
            for again in found:
                yield again
            after = found[-1].offset

    def decode(self, record: Inbound, header: Header) -> In:
        """Return the message of a record.

        Raises:
            BrokenOrder: if it cannot be read.
        """
        try:
            return self.node.source.codec.decode(record.body)
        except Malformed as error:
            msg = (
                f"{self.node.name} cannot read {header.event_id!r} (position {header.position} of {header.space!r}, "
                f"offset {record.offset}): {error}; it was written by another version: start that one, or replay"
            )
            raise BrokenOrder(msg) from error

    def is_given_up(self, space: Space, record: Inbound) -> bool:
        """Whether a record that cannot be read is to become a letter: its header can, so its position is kept."""
        return self.crashes.count(self.node.name, space, record.offset) >= CRASHES
