"""A turn that may be evidence, and what each retriever gave it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from schemas.memory import RecordRow


@dataclass(frozen=True, slots=True)
class Instead:
    """The turn's own record, or else its window, behind an item that stands for the turn: should that be a guess.

    ``loss`` is what the turn scores less, in thousandths, without its items.
    """

    record_id: str
    loss: int
    anchored: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """A turn that may be evidence. ``score`` is in thousandths; ``why`` is what each retriever gave it.

    ``shown`` is the id of the record that stands for it, ``own`` and ``item`` are its best own record and its best
    item, where found: they hold its times. ``anchored``: the record is a window, evidence of its anchor only.
    ``instead`` is there where an item is shown and the turn was found without it too. ``alike`` are further items of
    the turn that fit as well as ``item``: what they say decides (``settled``).
    """

    turn_id: str
    score: int
    why: Mapping[str, int]
    shown: str
    own: str | None = None
    item: str | None = None
    anchored: bool = False
    branch: int | None = None
    instead: Instead | None = None
    alike: tuple[str, ...] = ()

    def plus(self, name: str, amount: int) -> Candidate:
        """Return the candidate with ``amount`` more, and the reason; unchanged where it is 0."""
        return replace(self, score=self.score + amount, why={**self.why, name: amount}) if amount else self

    def settled(self, rows: Mapping[str, RecordRow]) -> Candidate:
        """Return the candidate with the one of the items that fit alike whose words come first."""
        if not self.alike or self.item is None:
            return self
        there = [rows[name] for name in (self.item, *self.alike) if name in rows]
        item = min(there, key=lambda row: (row.text, row.kind, row.provenance)).id if there else self.item
        return replace(self, item=item, shown=item if self.shown == self.item else self.shown, alike=())


def said_at(row: RecordRow) -> int:
    """Return the position at which a record was said: items of a chunk and of consolidation came later than that."""
    return row.since if row.said_at is None else row.said_at


def ranked(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return candidates best first, ties by turn id."""
    return sorted(candidates, key=lambda candidate: (-candidate.score, candidate.turn_id))
