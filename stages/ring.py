"""A bounded run of recent entries, stored in small parts so that a new entry rewrites one part only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Generic, Self, TypeVar

from pydantic import TypeAdapter

from schemas.base import Model

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


Entry = TypeVar("Entry", bound=PlacedModel)


@cache
def _adapter(entry: type[Entry]) -> TypeAdapter[tuple[Entry, ...]]:
    return TypeAdapter(tuple[entry, ...])  # type: ignore[valid-type]  # mypy knows no types made at run time


@dataclass(frozen=True, slots=True)
class Ring(Generic[Entry]):
    """Entries in the order of their positions (several may share one); immutable."""

    entries: tuple[Entry, ...] = ()

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def push(self, *entries: Entry, keep_from: int) -> Self:
        """Return the ring with ``entries`` behind and all of positions below ``keep_from`` dropped."""
        return type(self)(tuple(e for e in (*self.entries, *entries) if e.position >= keep_from))

    def replace(self, entry: Entry) -> Self:
        """Return the ring with ``entry`` in place of those of its position."""
        return type(self)(tuple(entry if e.position == entry.position else e for e in self.entries))

    def parts(self, name: str, size: int = CHUNK) -> dict[str, bytes]:
        """Cut the ring into parts ``name-N`` of ``size`` positions each: fewer for entries that are large."""
        return {f"{name}-{chunk % _SLOTS}": _adapter(type(run[0])).dump_json(run) for chunk, run in self._runs(size)}

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
