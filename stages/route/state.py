"""What route remembers of a space: recent turns and items, who is in working memory, what was retired."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Self

from pydantic import SerializerFunctionWrapHandler, model_serializer

from schemas.base import Model
from schemas.extracted import ItemKind
from schemas.normalized import Attitude
from stages.contract import WINDOW
from stages.ring import PlacedModel, Ring
from stages.route.working import Working

KEPT_ITEMS = 4
"""Items of a turn that later ones are compared with while memory does not show them yet; attributes come first."""

KEPT_BYTES = 400
"""Bytes that these take as they are stored, all of a turn's together (the contract allows 500 a turn)."""

TEXT_BYTES = 100
"""Bytes of an item's text that are kept: what compares numbers, and words where a vector is missing."""


MAX_ID = 40
"""Bytes of a client's id that the state keeps; a longer one is kept as a digest, so that 64 KB always suffice."""

_DIGEST = "~"


def short(name: str) -> str:
    """Return an id as the state keeps it: itself, or a digest if it is long."""
    data = name.encode()
    return name if len(data) <= MAX_ID else f"{_DIGEST}{blake2b(data, digest_size=12).hexdigest()}"


def whole(name: str) -> bool:
    """Tell whether a kept id is the client's own and not a digest."""
    return not name.startswith(_DIGEST)


class Lean(PlacedModel):
    """An entry that is stored without the fields that have their default."""

    @model_serializer(mode="wrap")
    def _lean(self, dump: SerializerFunctionWrapHandler) -> dict[str, object]:
        fields = type(self).model_fields
        stored: dict[str, object] = dump(self)
        return {name: value for name, value in stored.items() if value != fields[name].default}


class Known(Lean):
    """A recent turn: what edges, topics and revisions need of it. Ids are ``short``.

    ``items`` are the digests of the texts of its item records by ordinal, with spaces between them (``-`` where none
    was written), ``kept`` the
    (record id, digest) of items that an earlier revision wrote and this one says too. ``completes`` is the turn whose
    window was written with this one, ``completes_before`` the turn that this window shows before its own.
    """

    turn_id: str
    speaker: str
    branch: int
    pieces: int = 1
    items: str = ""
    kept: tuple[tuple[str, str], ...] = ()
    topic: str = ""
    topic_record: str = ""
    completes: int | None = None
    completes_before: int | None = None
    revised: bool = False


class KeptItem(Lean):
    """A recent item, as the routers see it. ``owner`` is empty where it is the speaker; times are Unix seconds."""

    ordinal: int = 0
    kind: ItemKind = ItemKind.FACT
    owner: str = ""
    subject: str | None = None
    attribute: str
    text: str
    value: str | None = None
    object: str | None = None
    negated: bool = False
    attitude: Attitude = Attitude.NONE
    start: int | None = None
    end: int | None = None
    at: int
    changes: bool = False


class KeptVector(PlacedModel):
    """The int8 vector of a recent item."""

    ordinal: int
    vector: bytes


class Retired(PlacedModel):
    """Ids of records that an event closed or marked as changed; older ones memory itself shows as such."""

    closed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


class Chain(Model):
    """The last turn and the one that its window will show before it, as ``commit`` counts them."""

    last: int | None = None
    before: int | None = None

    def after(self, position: int, revises: int | None) -> Chain:
        """Return the chain after a turn; a revision takes the place of the turn that it revises."""
        if self.last is not None and self.last == revises:
            return Chain(last=position, before=self.before)
        return Chain(last=position, before=self.last)

    def completed(self, revises: int | None) -> tuple[int | None, int | None]:
        """Return the turn whose window the next turn completes, and what that window shows before it."""
        if self.last is None or self.last == revises:
            return None, None
        return self.last, None if self.before == revises else self.before


@dataclass(frozen=True, slots=True)
class RouteState:
    """State of ``route`` for one space."""

    turns: Ring[Known] = field(default_factory=Ring)
    items: Ring[KeptItem] = field(default_factory=Ring)
    vectors: Ring[KeptVector] = field(default_factory=Ring)
    retired: Ring[Retired] = field(default_factory=Ring)
    working: Working = field(default_factory=Working)
    chain: Chain = field(default_factory=Chain)

    def parts(self) -> Mapping[str, bytes]:
        """Return the state as named parts: four rings, one part a queue, and the chain."""
        return {
            "chain": self.chain.model_dump_json().encode(),
            **self.turns.parts("turns"),
            **self.items.parts("items"),
            **self.vectors.parts("vectors"),
            **self.retired.parts("retired"),
            **self.working.parts(),
        }

    @classmethod
    def from_parts(cls, parts: Mapping[str, bytes]) -> Self:
        """Build the state that ``parts`` was cut from.

        Raises:
            ValueError: if a part is malformed.
        """
        return cls(
            turns=Ring.from_parts("turns", parts, Known),
            items=Ring.from_parts("items", parts, KeptItem),
            vectors=Ring.from_parts("vectors", parts, KeptVector),
            retired=Ring.from_parts("retired", parts, Retired),
            working=Working.from_parts(parts),
            chain=Chain.model_validate_json(parts["chain"]) if "chain" in parts else Chain(),
        )

    def turn(self, position: int) -> Known | None:
        """Return the recent turn of a position."""
        return next((known for known in self.turns if known.position == position), None)

    @property
    def closed(self) -> frozenset[str]:
        """Records closed in the last W events."""
        return frozenset(name for entry in self.retired for name in entry.closed)

    @property
    def changed(self) -> frozenset[str]:
        """Records marked as changed in the last W events."""
        return frozenset(name for entry in self.retired for name in entry.changed)

    def with_turn(
        self, known: Known, items: tuple[KeptItem, ...], vectors: tuple[KeptVector, ...], revises: int | None
    ) -> Self:
        """Return the state with a new turn and what it keeps of its items; the turn it revises stands no more."""
        oldest = known.position - WINDOW + 1
        former = self.turn(revises) if revises is not None else None
        turns = self.turns if former is None else self.turns.replace(former.model_copy(update={"revised": True}))
        return replace(
            self,
            turns=turns.push(known, keep_from=oldest),
            items=self.items.push(*items, keep_from=oldest),
            vectors=self.vectors.push(*vectors, keep_from=oldest),
            chain=self.chain.after(known.position, revises),
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
        entries = (retired,) if retired.closed or retired.changed else ()
        return replace(self, retired=self.retired.push(*entries, keep_from=retired.position - WINDOW + 1))
