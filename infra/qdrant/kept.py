"""What a process keeps in memory of an index: at most so many records, those longest unused go."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

ROWS: Final = 16_384
"""Records kept in memory (about 100 MB): all turns of a space of 10,000, whose reads else take a millisecond more.

Reading and parsing one costs 60 us, and neighbouring turns find the same ones; a read by time finds hundreds.
"""

_Kept = TypeVar("_Kept")


@dataclass(slots=True)
class Kept(Generic[_Kept]):
    """At most ``size`` things by record id."""

    size: int = ROWS
    _held: OrderedDict[str, _Kept] = field(default_factory=OrderedDict)

    def __contains__(self, record_id: str) -> bool:
        """Tell whether a record is kept."""
        return record_id in self._held

    def of(self, record_ids: Collection[str]) -> dict[str, _Kept]:
        """Return what is kept of these records; they are the last used now."""
        found = {record_id: self._held[record_id] for record_id in record_ids if record_id in self._held}
        for record_id in found:
            self._held.move_to_end(record_id)
        return found

    def add(self, new: Mapping[str, _Kept]) -> None:
        """Keep more."""
        self._held.update(new)
        while len(self._held) > self.size:
            self._held.popitem(last=False)

    def drop(self, record_ids: Iterable[str]) -> None:
        """Forget some."""
        for record_id in record_ids:
            self._held.pop(record_id, None)
