"""What route remembers of a space: recent turns and items, who is in working memory, what was retired."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from pydantic import TypeAdapter

from stages.contract import WINDOW
from stages.encoded import Encoded
from stages.packed import Packed
from stages.ring import CHUNK, PlacedModel, Ring, part_start
from stages.route.chain import Chain, Shown
from stages.route.ids import mark
from stages.route.working import Message, Working, queue_bytes

KEPT_BYTES = 400
"""Bytes of a turn's item rows as they are stored (the contract allows 500 a turn in all)."""

TEXT_BYTES = 100
"""Bytes of an item's text that are kept where only its words can be compared."""

KEPT_VECTORS = 4
"""Vectors kept of a turn: of items that are compared by their words."""

_CHUNK = 4
"""Turns a part: with entries of some 600 bytes a turn rewrites 1.5 KB on average."""


class KeptItem(Packed):
    """An item record of a recent turn: enough to find it by its key, and, where there was room, to compare it.

    ``flags`` holds kind, attitude and what else is a yes or no (``stages.route.kept``), ``digest`` stands for the text,
    ``about`` for the key. The fields behind are there only where the item can be compared by them: a value, an object,
    or else the words of its text. Times are Unix seconds, 0 where there are none.
    """

    ordinal: int
    flags: int
    digest: str
    about: str
    attribute: str = ""
    subject: str = ""
    value: str = ""
    object: str = ""
    start: int = 0
    end: int = 0
    text: str = ""


class Earlier(Packed):
    """Items that an event brought from an earlier turn, of the chunk that it closed or of one read beside it.

    ``back`` is how many events before that turn was, ``items`` are their ordinals as bits, ``speaker`` is a digest.
    """

    back: int
    items: int
    speaker: str


class Known(PlacedModel, Packed):
    """A recent turn: what edges, topics, routers and revisions need of it.

    ``turn_id`` is ``short``, ``speaker`` a digest, ``at`` in Unix seconds. ``kept`` holds the (record id, digest) of
    items that an earlier revision wrote and this one says too, ``windows`` those written with this turn.
    ``structured`` has for each structured record of the turn who else's words it has, as ``stages.route.structured``
    names turns. Of earlier turns an event brings items of two at most: ``earlier`` and ``earliest``.
    """

    turn_id: str
    speaker: str
    branch: int
    at: int
    pieces: int = 1
    items: tuple[KeptItem, ...] = ()
    topic: str = ""
    topic_record: str = ""
    windows: tuple[Shown, ...] = ()
    revised: bool = False
    kept: tuple[tuple[str, str], ...] = ()
    earlier: Earlier | None = None
    structured: tuple[tuple[str, ...], ...] = ()
    earliest: Earlier | None = None

    def _of(self, ordinal: int) -> Earlier | None:
        there = (one for one in (self.earlier, self.earliest) if one is not None)
        return next((one for one in there if one.items >> ordinal & 1), None)

    def back(self, ordinal: int) -> int:
        """Return how many events before this one an item of it was said."""
        earlier = self._of(ordinal)
        return 0 if earlier is None else earlier.back

    def said_by(self, ordinal: int) -> str:
        """Return who said an item."""
        earlier = self._of(ordinal)
        return self.speaker if earlier is None else earlier.speaker


class KeptVector(PlacedModel):
    """The int8 vector of a recent item."""

    ordinal: int
    vector: bytes


class Retired(PlacedModel):
    """Marks of records that an event closed or changed; older ones memory itself shows as such."""

    closed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


_WAITING = TypeAdapter(tuple[Message, ...])


@dataclass(frozen=True, slots=True)
class RouteState:
    """State of ``route`` for one space.

    ``waiting`` are messages that left working memory, with those of their items that the state alone could not judge:
    they are routed as soon as memory shows them.
    """

    turns: Ring[Known] = field(default_factory=Ring)
    vectors: Ring[KeptVector] = field(default_factory=Ring)
    retired: Ring[Retired] = field(default_factory=Ring)
    working: Working = field(default_factory=Working)
    waiting: tuple[Message, ...] = ()
    chain: Chain = field(default_factory=Chain)
    encoded_queues: Encoded = field(default_factory=Encoded, repr=False, compare=False)

    def parts(self) -> Mapping[str, bytes]:
        """Return the state as named parts: three rings, one part a queue, those that wait, and the chain."""
        return {
            "chain": self.chain.model_dump_json().encode(),
            "waiting": _WAITING.dump_json(self.waiting),
            **self.turns.parts("turns", _CHUNK),
            **self.vectors.parts("vectors"),
            **self.retired.parts("retired", _CHUNK),
            **self.encoded_queues.parts(self.working.parts(), queue_bytes),
        }

    @classmethod
    def from_parts(cls, parts: Mapping[str, bytes]) -> Self:
        """Build the state that ``parts`` was cut from.

        Raises:
            ValueError: if a part is malformed.
        """
        return cls(
            turns=Ring.from_parts("turns", parts, Known),
            vectors=Ring.from_parts("vectors", parts, KeptVector),
            retired=Ring.from_parts("retired", parts, Retired),
            working=Working.from_parts(parts),
            waiting=_WAITING.validate_json(parts["waiting"]) if "waiting" in parts else (),
            chain=Chain.model_validate_json(parts["chain"]) if "chain" in parts else Chain(),
        )

    def turn(self, position: int) -> Known | None:
        """Return the recent turn of a position."""
        return next((known for known in self.turns if known.position == position), None)

    @property
    def closed(self) -> frozenset[str]:
        """Marks of the records closed in the last W events."""
        return frozenset(name for entry in self.retired for name in entry.closed)

    def is_closed(self, name: str) -> bool:
        """Tell whether a record was closed in the last W events."""
        return mark(name) in self.closed

    @property
    def changed(self) -> frozenset[str]:
        """Marks of the records changed in the last W events."""
        return frozenset(name for entry in self.retired for name in entry.changed)

    def with_turn(self, known: Known, vectors: tuple[KeptVector, ...], chain: Chain, revises: int | None) -> Self:
        """Return the state with a new turn; the turn that it revises stands no more."""
        former = self.turn(revises) if revises is not None else None
        turns = self.turns if former is None else self.turns.replace(former.model_copy(update={"revised": True}))
        return replace(
            self,
            turns=turns.push(known, keep_from=_oldest(known.position, _CHUNK)),
            vectors=self.vectors.push(*vectors, keep_from=_oldest(known.position, CHUNK)),
            chain=chain,
        )

    def with_topic(self, positions: Collection[int], record: str) -> Self:
        """Return the state in which the turns of these positions speak of another topic record."""
        turns = self.turns
        for known in self.turns:
            if known.position in positions:
                turns = turns.replace(known.model_copy(update={"topic_record": record}))
        return replace(self, turns=turns)

    def with_retired(self, retired: Retired) -> Self:
        """Return the state that remembers what an event retired."""
        if not (retired.closed or retired.changed or len(self.retired)):
            return self
        entries = (retired,) if retired.closed or retired.changed else ()
        return replace(self, retired=self.retired.push(*entries, keep_from=_oldest(retired.position, _CHUNK)))


def _oldest(position: int, chunk: int) -> int:
    """Return the oldest position that is kept: W events, in whole parts."""
    return part_start(position - WINDOW + 1, chunk)
