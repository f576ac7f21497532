"""What route remembers of a space: recent turns and items, who is in working memory, what was retired."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from pydantic import TypeAdapter

from stages.contract import WINDOW
from stages.encoded import Encoded
from stages.packed import Packed
from stages.ring import CHUNK, PlacedModel, Ring, part_start
from stages.route.chain import Chain, Shown
from stages.route.made import MadeEvent
from stages.route.row import KeptItem
from stages.route.working import Message, Working, queue_bytes

_CHUNK = 4
"""Turns a part: with entries of some 600 bytes a turn rewrites 1.5 KB on average."""


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
_NUMBERS = TypeAdapter(tuple[int, ...])

_MOST_OWED = 256
"""Records at most that are to come back: revisions of turns on which that many recent merges rest are beyond a night's.
"""


@dataclass(frozen=True, slots=True)
class RouteState:
    """State of ``route`` for one space.

    ``waiting`` are messages that left working memory, with those of their items that the state alone could not judge:
    they are routed as soon as memory shows them. ``made`` is what consolidation did; ``owed`` are references of records
    that a revision brings back, as soon as memory shows them and there is room. ``judging`` are references, doubled, of
    records that it made of such as no router had seen, plus one where they say that something changed.
    """

    turns: Ring[Known] = field(default_factory=Ring)
    vectors: Ring[KeptVector] = field(default_factory=Ring)
    retired: Ring[Retired] = field(default_factory=Ring)
    working: Working = field(default_factory=Working)
    waiting: tuple[Message, ...] = ()
    chain: Chain = field(default_factory=Chain)
    made: Ring[MadeEvent] = field(default_factory=Ring)
    owed: tuple[int, ...] = ()
    judging: tuple[int, ...] = ()
    encoded_queues: Encoded = field(default_factory=Encoded, repr=False, compare=False)

    def parts(self) -> Mapping[str, bytes]:
        """Return the state as named parts: four rings, one part a queue, those that wait, those owed, and the chain."""
        return {
            "chain": self.chain.model_dump_json().encode(),
            "waiting": _WAITING.dump_json(self.waiting),
            **self.turns.parts("turns", _CHUNK),
            **self.vectors.parts("vectors"),
            **self.retired.parts("retired", _CHUNK),
            **self.made_parts(),
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
            made=Ring.from_parts("made", parts, MadeEvent),
            owed=_NUMBERS.validate_json(parts.get("owed", b"[]")),
            judging=_NUMBERS.validate_json(parts.get("judging", b"[]")),
            working=Working.from_parts(parts),
            waiting=_WAITING.validate_json(parts["waiting"]) if "waiting" in parts else (),
            chain=Chain.model_validate_json(parts["chain"]) if "chain" in parts else Chain(),
        )

    def turn(self, position: int) -> Known | None:
        """Return the recent turn of a position."""
        return next((known for known in self.turns if known.position == position), None)

    @property
    def closed(self) -> frozenset[str]:
        """Marks of the records closed in the last W events, by anything but consolidation."""
        return frozenset(name for entry in self.retired for name in entry.closed)

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
        ).without_old(known.position)

    def with_topic(self, positions: Collection[int], record: str) -> Self:
        """Return the state in which the turns of these positions speak of another topic record."""
        turns = self.turns
        for known in self.turns:
            if known.position in positions:
                turns = turns.replace(known.model_copy(update={"topic_record": record}))
        return replace(self, turns=turns)

    def made_parts(self) -> dict[str, bytes]:
        """Return the parts that hold what consolidation did and left to be done: none where there was none."""
        left = {"owed": self.owed, "judging": self.judging}
        numbers = {name: _NUMBERS.dump_json(some) for name, some in left.items() if some}
        return {**self.made.parts("made", _CHUNK), **numbers}

    def without_old(self, position: int) -> Self:
        """Return the state without what consolidation did so long before ``position`` that memory shows it."""
        return replace(self, made=self.made.push(keep_from=_oldest(position, _CHUNK))) if len(self.made) else self

    def with_made(self, made: MadeEvent, vectors: tuple[KeptVector, ...], owed: Iterable[int]) -> Self:
        """Return the state that remembers what an event made and retired, and what is still ``owed``."""
        entries = (made,) if made.records or made.gone else ()
        kept = self.vectors.push(*vectors, keep_from=_oldest(made.position, CHUNK)) if vectors else self.vectors
        ring = self.made.push(*entries, keep_from=_oldest(made.position, _CHUNK)) if entries else self.made
        return replace(self, made=ring, vectors=kept, owed=tuple(dict.fromkeys(owed))[:_MOST_OWED])

    def with_retired(self, retired: Retired) -> Self:
        """Return the state that remembers what an event retired."""
        if not (retired.closed or retired.changed or len(self.retired)):
            return self
        entries = (retired,) if retired.closed or retired.changed else ()
        return replace(self, retired=self.retired.push(*entries, keep_from=_oldest(retired.position, _CHUNK)))


def _oldest(position: int, chunk: int) -> int:
    """Return the oldest position that is kept: W events, in whole parts."""
    return part_start(position - WINDOW + 1, chunk)
