"""The state of the stage: the last turns, the tips of recent branches, the people, and the turns' vectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Self, TypeVar

from pydantic import TypeAdapter

from stages.contract import WINDOW
from stages.encoded import Encoded
from stages.localize_state.nodes import Node, Person, Seen, Tip, Vector
from stages.ring import CHUNK, Ring, part_start
from stages.text.similarity import dots, permille

SEEN_BYTES = 27_000
TIP_BYTES = 18_000
PERSON_BYTES = 14_000
"""Shares of the 64 KB of a state. With usual ids 64 turns, some 50 tips and 60 people fit; very long ids get fewer."""

MOST_TIPS = 64
"""Branches whose newest turn is remembered (ArborMem's recently active states); older ones come from reads."""

_CHUNK = 2
"""Turns a part of the window: a turn writes one and a half of them on average, under 1 KB with usual ids."""

_BUCKETS = 64
"""Tips and people are stored in this many parts, so that a turn writes two of each, under 1 KB."""

_Kept = TypeVar("_Kept", Seen, Tip, Person)
_TIPS: TypeAdapter[tuple[Tip, ...]] = TypeAdapter(tuple[Tip, ...])
_PEOPLE: TypeAdapter[tuple[Person, ...]] = TypeAdapter(tuple[Person, ...])


@dataclass(frozen=True, slots=True)
class Forest:
    """What a space's turns looked like lately. All are in the order of their positions, newest last."""

    window: Ring[Seen] = field(default_factory=Ring)
    vectors: Ring[Vector] = field(default_factory=Ring)
    tips: tuple[Tip, ...] = ()
    people: tuple[Person, ...] = ()
    encoded_tips: Encoded = field(default_factory=Encoded, repr=False, compare=False)
    encoded_people: Encoded = field(default_factory=Encoded, repr=False, compare=False)

    def grown(self, seen: Seen, vector: bytes, tip: Tip | None, person: Person | None) -> Self:
        """Return the forest with one more turn, its branch's tip and its speaker.

        Window and vectors lose whole parts, so that no part is written again for what it loses: 64 to 71 turns stay.
        """
        oldest = max(part_start(seen.position - WINDOW + 1, CHUNK), self._fitting(seen))
        return replace(
            self,
            window=self.window.push(seen, keep_from=oldest),
            vectors=self.vectors.push(
                Vector(position=seen.position, vector=vector), keep_from=part_start(oldest, CHUNK)
            ),
            tips=self.tips if tip is None else _with_tip(self.tips, tip),
            people=self.people if person is None else _with_person(self.people, person),
        )

    def _fitting(self, seen: Seen) -> int:
        """Return the position from which on whole parts of the window fit with ``seen``."""
        if sum([one.size for one in self.window.entries]) + seen.size <= SEEN_BYTES:
            return 0
        kept = _within((*self.window, seen), SEEN_BYTES)
        return part_start(kept[0].position + _CHUNK - 1, _CHUNK) if len(kept) <= len(self.window) else 0

    def renamed(self, old: str, new: str, position: int) -> Self:
        """Return the forest in which who was called ``old`` is called ``new``; strangers change nothing."""
        known = next((person for person in self.people if person.name == old), None)
        if known is None:
            return self
        people = tuple(person for person in self.people if person.name != new)
        renamed = sized(known.model_copy(update={"name": new, "position": position}))
        return replace(self, people=_with_person(people, renamed))

    @property
    def last_at(self) -> datetime | None:
        """When the newest turn was said; ``None`` before the first."""
        newest = self.window.entries[-1:]
        return datetime.fromtimestamp(newest[0].at, UTC) if newest else None

    def turn(self, turn_id: str) -> Seen | None:
        """Return the newest turn of the window with this id."""
        return next((seen for seen in reversed(self.window.entries) if seen.turn_id == turn_id), None)

    def turn_at(self, position: int) -> Seen | None:
        """Return the turn of the window at this position."""
        return next((seen for seen in self.window if seen.position == position), None)

    def tip(self, branch: int) -> Tip | None:
        """Return the newest turn of a branch that is remembered."""
        return next((tip for tip in self.tips if tip.branch == branch), None)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All turns that are remembered: of the window, the tips, and what people said last; some come repeatedly."""
        return (*self.window, *self.tips, *(person.last for person in self.people))

    def cosines(self, vector: bytes) -> dict[int, int]:
        """Return the cosines of an int8 vector and those of the last turns, in thousandths, by position."""
        products = dots(vector, [one.vector for one in self.vectors])
        return {one.position: permille(product) for one, product in zip(self.vectors, products, strict=True)}

    def parts(self) -> Mapping[str, bytes]:
        """Return the state as named parts; ``vectors-N`` hold the int8 vectors."""
        return {
            **self.window.parts("window", _CHUNK),
            **self.vectors.parts("vectors"),
            **self.encoded_tips.parts(_buckets("tips", [(tip.branch, tip) for tip in self.tips]), _TIPS.dump_json),
            **self.encoded_people.parts(_buckets("people", [(one.key, one) for one in self.people]), _PEOPLE.dump_json),
        }

    @classmethod
    def from_parts(cls, parts: Mapping[str, bytes]) -> Self:
        """Build the state from its parts.

        Raises:
            ValueError: if a part is malformed.
        """
        return cls(
            window=Ring[Seen].from_parts("window", parts, Seen),
            vectors=Ring[Vector].from_parts("vectors", parts, Vector),
            tips=_read("tips", parts, _TIPS),
            people=_read("people", parts, _PEOPLE),
        )


def sized(item: _Kept) -> _Kept:
    """Return ``item`` with the bytes of its JSON noted, so that budgets need no second look."""
    return item.model_copy(update={"size": len(item.model_dump_json().encode())})


def _within(items: Iterable[_Kept], budget: int) -> tuple[_Kept, ...]:
    """Drop the oldest until the rest fits."""
    kept = list(items)
    total = sum(item.size for item in kept)
    while kept and total > budget:
        total -= kept.pop(0).size
    return tuple(kept)


def _with_tip(tips: tuple[Tip, ...], tip: Tip) -> tuple[Tip, ...]:
    others = tuple(other for other in tips if other.branch != tip.branch)
    return _within((*others, tip), TIP_BYTES)[-MOST_TIPS:]


def _with_person(people: tuple[Person, ...], person: Person) -> tuple[Person, ...]:
    return _within((*(other for other in people if other.key != person.key), person), PERSON_BYTES)


def _buckets(name: str, items: Iterable[tuple[int, _Kept]]) -> dict[str, tuple[_Kept, ...]]:
    buckets: dict[int, list[_Kept]] = {}
    for key, item in items:
        buckets.setdefault(key % _BUCKETS, []).append(item)
    return {f"{name}-{bucket}": tuple(kept) for bucket, kept in buckets.items()}


def _read(name: str, parts: Mapping[str, bytes], adapter: TypeAdapter[tuple[_Kept, ...]]) -> tuple[_Kept, ...]:
    found = [item for key, data in parts.items() if key.startswith(f"{name}-") for item in adapter.validate_json(data)]
    return tuple(sorted(found, key=lambda item: item.position))
