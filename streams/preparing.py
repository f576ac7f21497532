"""Letting a stage warm its caches for what has arrived, and keeping what was read for that."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from schemas.numbered import Numbered
from schemas.space import Space
from stages.contract import StageState, Unavailable
from streams.codec import Malformed
from streams.effects import Inbound
from streams.hand import BATCH, Hand, Held, InHand
from streams.numbering import Refused, number
from streams.topology import Node

NEIGHBOURS = 2
"""Messages of the batch before that a stage sees again when it prepares: a window needs the turns before it."""

In = TypeVar("In")
Out = TypeVar("Out")
State = TypeVar("State", bound=StageState)
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Preparing(Generic[In, Out, State]):
    """Prepares one stage, space by space. Nothing here has an effect on results."""

    node: Node[In, Out, State]
    hand: Hand
    is_first: bool
    _arrived: dict[Space, Sequence[In]] = field(default_factory=dict)
    _read: dict[Space, dict[int, In | None]] = field(default_factory=dict)

    def read(self, space: Space, records: Sequence[Inbound]) -> None:
        """Read the messages among ``records``, once for preparing and for deciding."""
        self._read[space] = {record.offset: self._message(space, record) for record in records}

    async def prepare(self, space: Space) -> None:
        """Show the stage the messages that were read, and the last ones that it was shown before.

        Where the last process died preparing, the records of the batch are tried alone, so that the one at fault is
        known; a record that it died at is left out.
        """
        fell_at = self.hand.fell_at(self.node.name, space)
        if fell_at == BATCH:
            return
        read = self._read.get(space, {})
        messages = [message for at, message in read.items() if message is not None and at != fell_at]
        before = self._arrived.get(space, ())
        self._arrived[space] = messages[-NEIGHBOURS:]
        try:
            work = self.node.stage.prepare([*before, *messages])
            await InHand(self.hand, Held(self.node.name, space, BATCH), work)
        except Unavailable as reason:
            _log.warning("%s could not prepare: %s", self.node.name, reason)  # decide asks again and waits

    def _message(self, space: Space, record: Inbound) -> In | None:
        if record.marker:
            return None
        if self.is_first:
            numbered = number(record, space, 0)  # its position is not known yet, so it is numbered again
            return None if isinstance(numbered, Refused) else numbered  # type: ignore[return-value]  # In is Numbered
        try:
            return self.node.source.codec.decode(record.body)
        except Malformed:
            return None

    def take(self, space: Space, offset: int) -> In | None:
        """Return the message at an offset if it has been read already."""
        return self._read.get(space, {}).get(offset)

    def numbered(self, space: Space, record: Inbound, position: int) -> Numbered | Refused:
        """Number an event of the log; one that has been read already only takes its position."""
        read = self.take(space, record.offset)
        if not isinstance(read, Numbered):
            return number(record, space, position)
        return read.model_copy(update={"header": read.header.model_copy(update={"position": position})})

    def done(self, space: Space) -> None:
        """Forget what was read of a batch that is decided."""
        self.hand.passed(self.node.name, space)
        self._read.pop(space, None)

    def evict(self, space: Space) -> None:
        """Forget a space."""
        self._arrived.pop(space, None)
