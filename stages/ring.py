"""A bounded run of recent entries, stored in small parts so that a new entry rewrites one part only."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from operator import attrgetter
from typing import Generic, Self, TypeVar

from pydantic import TypeAdapter

from schemas.base import Model
from stages.encoded import Encoded

CHUNK = 8
"""Positions a part: with entries of at most 500 bytes a turn rewrites 2 KB on average."""

_SLOTS = 128
"""Part names are reused after this many chunks; more chunks than any ring holds."""


def part_start(position: int, size: int) -> int:
    """Return the first position of the part that holds ``position``.

    A ring that keeps from there loses whole parts: a part that loses one entry after the other is written every time.
    """
    return max(0, position) // size * size


class PlacedModel(Model):
    """A pydantic entry of a ring."""

    position: int


_position = attrgetter("position")
Entry = TypeVar("Entry", bound=PlacedModel)


@cache
def _adapter(entry: type[Entry]) -> TypeAdapter[tuple[Entry, ...]]:
    return TypeAdapter(tuple[entry, ...])  # type: ignore[valid-type]  # mypy knows no types made at run time


def _encode(run: tuple[Entry, ...]) -> bytes:
    return _adapter(type(run[0])).dump_json(run)


@dataclass(frozen=True, slots=True)
class Ring(Generic[Entry]):
    """Entries in the order of their positions (several may share one); immutable."""

    entries: tuple[Entry, ...] = ()
    encoded: Encoded = field(default_factory=Encoded, repr=False, compare=False)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def push(self, *entries: Entry, keep_from: int) -> Self:
        """Return the ring with ``entries`` behind and all of positions below ``keep_from`` dropped."""
        held = (*self.entries, *entries)
        return type(self)(held[bisect_left(held, keep_from, key=_position) :], self.encoded)

    def replace(self, entry: Entry) -> Self:
        """Return the ring with ``entry`` in place of those of its position."""
        replaced = tuple([entry if e.position == entry.position else e for e in self.entries])
        return type(self)(replaced, self.encoded)

    def parts(self, name: str, size: int = CHUNK) -> dict[str, bytes]:
        """Cut the ring into parts ``name-N`` of ``size`` positions each: fewer for entries that are large."""
        return self.encoded.parts({f"{name}-{chunk % _SLOTS}": run for chunk, run in self._runs(size)}, _encode)

    def _runs(self, size: int) -> Iterator[tuple[int, tuple[Entry, ...]]]:
        for chunk, group in groupby(self.entries, key=lambda entry: entry.position // size):
            yield chunk, tuple(group)

    @classmethod
    def from_parts(cls, name: str, parts: Mapping[str, bytes], entry: type[Entry]) -> Self:
        """Build the ring again from the parts that begin with ``name-``.

        Raises:
            ValueError: if a part is malformed.
        """
        runs = [_adapter(entry).validate_json(data) for key, data in parts.items() if key.startswith(f"{name}-")]
        return cls(tuple(e for run in sorted(runs, key=lambda run: run[0].position) for e in run))
