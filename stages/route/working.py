"""Working memory: a FIFO of messages for each participant (AdaMem 3.2 and B.3), bounded in participants (ours)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from stages.contract import WINDOW
from stages.packed import Packed

CAPACITY = 20
"""C_w: messages of a participant; at this many the oldest leave (AdaMem B.3)."""

SEGMENT = 5
"""r: messages that leave together (AdaMem B.3)."""

PARTICIPANTS = 32
"""Queues in state: a channel of two hundred speakers must not grow it; the least recent one is drained above this."""

_PART = "working-"


class Message(Packed):
    """A message in working memory: its position and sets of ordinals of its item records, as bits of an integer.

    ``route`` are those that are to be routed, ``changes`` those that say that something changed: their records do not.
    """

    position: int
    items: int = 0
    route: int = 0
    changes: int = 0


def bits(ordinals: Iterable[int]) -> int:
    """Return a set of ordinals as an integer."""
    return sum(1 << ordinal for ordinal in set(ordinals))


def ordinals(mask: int) -> Iterator[int]:
    """Yield the ordinals of a set, in order."""
    return (ordinal for ordinal in range(mask.bit_length()) if mask >> ordinal & 1)


class Queue(Packed):
    """The messages of a participant, oldest first, and the position at which they last spoke."""

    slot: int
    participant: str
    last: int
    messages: tuple[Message, ...] = ()


def queue_bytes(part: tuple[Queue, ...]) -> bytes:
    """Return a part of working memory as it is stored."""
    return part[0].model_dump_json().encode()


@dataclass(frozen=True, slots=True)
class Leaving:
    """A segment that leaves working memory together."""

    participant: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Working:
    """The queues of a space, by slot; immutable."""

    queues: tuple[Queue, ...] = ()

    def parts(self) -> dict[str, tuple[Queue]]:
        """Return one part a queue, to be encoded by ``queue_bytes``."""
        return {f"{_PART}{queue.slot}": (queue,) for queue in self.queues}

    @classmethod
    def from_parts(cls, parts: Mapping[str, bytes]) -> Self:
        """Build the queues again.

        Raises:
            ValueError: if a part is malformed.
        """
        queues = [Queue.model_validate_json(data) for name, data in parts.items() if name.startswith(_PART)]
        return cls(tuple(sorted(queues, key=_slot)))

    def pushed(self, participant: str, message: Message) -> tuple[Self, tuple[Leaving, ...]]:
        """Return working memory with a new message, and what it pushes out.

        A full queue loses its oldest segment; before that, whoever was silent for W events is drained, and the least
        recent participant where a newcomer finds no room.
        """
        kept, silent = self.without_silent(message.position, participant)
        kept, pressed = kept.with_room(participant)
        grown, full = kept.with_message(participant, message)
        return grown, (*silent, *pressed, *full)

    def drained(self, participant: str | None) -> tuple[Self, tuple[Leaving, ...]]:
        """Return working memory without the messages of ``participant`` (``None``: of anybody), and these."""
        out = [queue for queue in self.queues if participant in {None, queue.participant}]
        return self._without(out), _leaving(out)

    def last_of(self, participant: str) -> int | None:
        """Return the position of the newest message of a participant that is still here."""
        return next((queue.messages[-1].position for queue in self.queues if queue.participant == participant), None)

    def without_silent(self, position: int, speaking: str) -> tuple[Self, tuple[Leaving, ...]]:
        """Drain whoever has not spoken for W events; ``speaking`` speaks now."""
        out = [q for q in self.queues if q.last < position - WINDOW and q.participant != speaking]
        return self._without(out), _leaving(out)

    def with_room(self, participant: str) -> tuple[Self, tuple[Leaving, ...]]:
        """Drain the least recent participant where a newcomer finds no room."""
        known = any(queue.participant == participant for queue in self.queues)
        if known or len(self.queues) < PARTICIPANTS:
            return self, ()
        out = [min(self.queues, key=_recency)]
        return self._without(out), _leaving(out)

    def with_message(self, participant: str, message: Message) -> tuple[Self, tuple[Leaving, ...]]:
        """Push a message; a full queue loses its oldest segment."""
        queue = next((q for q in self.queues if q.participant == participant), None) or self._opened(participant)
        messages = (*queue.messages, message)
        full = len(messages) >= CAPACITY
        left = messages[:SEGMENT] if full else ()
        grown = Queue(slot=queue.slot, participant=participant, last=message.position, messages=messages[len(left) :])
        others = (q for q in self.queues if q.slot != grown.slot)
        leaving = (Leaving(participant, left),) if left else ()
        return type(self)(tuple(sorted((*others, grown), key=_slot))), leaving

    def _opened(self, participant: str) -> Queue:
        taken = {queue.slot for queue in self.queues}
        free = next(slot for slot in range(PARTICIPANTS + 1) if slot not in taken)
        return Queue(slot=free, participant=participant, last=-1)

    def _without(self, out: Sequence[Queue]) -> Self:
        slots = {queue.slot for queue in out}
        return type(self)(tuple(queue for queue in self.queues if queue.slot not in slots))


def _slot(queue: Queue) -> int:
    return queue.slot


def _recency(queue: Queue) -> tuple[int, int]:
    return queue.last, queue.slot


def _leaving(queues: Sequence[Queue]) -> tuple[Leaving, ...]:
    return tuple(Leaving(queue.participant, queue.messages) for queue in sorted(queues, key=_recency))
