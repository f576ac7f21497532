"""The evidence as the agents see it: pieces with small numbers, in order of coming, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import zip_longest
from typing import Final, Self

from schemas.answer import Citation
from schemas.memory import RecordKind, RecordRow
from schemas.recall import Hit
from stages.answer.dates import written
from stages.prompts import as_data
from stages.text.cost import estimate

LONGEST: Final = 1500
"""Characters of a piece: a document that somebody pasted must not take the place of all other evidence."""

_SUMS_UP: Final = frozenset({RecordKind.PERSONA, RecordKind.TOPIC})


@dataclass(frozen=True, slots=True)
class Piece:
    """Something that was found. ``number`` is what a model calls it by: it never sees an id that it could invent."""

    number: int
    record_id: str
    kind: RecordKind
    turn_ids: tuple[str, ...]
    speaker: str | None
    at: datetime
    text: str

    def shown(self) -> dict[str, object]:
        """Return what a model is shown of it."""
        text = self.text if len(self.text) <= LONGEST else f"{self.text[:LONGEST]}…"
        kind = {"kind": self.kind.value} if self.kind in _SUMS_UP else {}
        return {"n": self.number, **kind, "who": self.speaker or "", "when": written(self.at), "text": text}

    def tokens(self) -> int:
        """Return about how many tokens it costs to show it."""
        return estimate(as_data(self.shown()))

    def cited(self) -> Citation:
        """Return it as an answer names it."""
        return Citation(
            turn_ids=self.turn_ids,
            record_id=self.record_id,
            kind=self.kind,
            speaker=self.speaker,
            at=self.at,
            text=self.text,
        )


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that was found so far. ``hits`` are what recall gave; what of it is suspect becomes no piece."""

    hits: tuple[Hit, ...] = ()
    pieces: tuple[Piece, ...] = ()
    withheld: int = 0

    def plus(self, *found: Sequence[Hit]) -> Self:
        """Return the evidence with the hits of several searches: the best of each first, what is known left out."""
        known = {hit.record_id for hit in self.hits}
        new = list({hit.record_id: hit for hit in _in_turn(found) if hit.record_id not in known}.values())
        sound = [hit for hit in new if not hit.suspect]
        pieces = tuple(_of_hit(hit, number) for number, hit in enumerate(sound, len(self.pieces) + 1))
        withheld = self.withheld + len(new) - len(sound)
        return replace(self, hits=(*self.hits, *new), pieces=(*self.pieces, *pieces), withheld=withheld)

    def beside(self, rows: Iterable[RecordRow]) -> Self:
        """Return the evidence with what sums up people and matters: only what is neither suspect nor a guess."""
        known = {piece.record_id for piece in self.pieces}
        sound = [row for row in rows if row.id not in known and not row.suspect and row.rests_on is None]
        pieces = (_of_row(row, number) for number, row in enumerate(sound, len(self.pieces) + 1))
        return replace(self, pieces=(*self.pieces, *pieces))

    def of(self, numbers: Iterable[int]) -> list[Piece]:
        """Return the pieces of these numbers, each once, in that order; numbers that none has are passed over."""
        named = {piece.number: piece for piece in self.pieces}
        return [named[number] for number in dict.fromkeys(numbers) if number in named]


def _in_turn(found: Sequence[Sequence[Hit]]) -> Iterator[Hit]:
    return (hit for rank in zip_longest(*found) for hit in rank if hit is not None)


def _of_hit(hit: Hit, number: int) -> Piece:
    return Piece(number, hit.record_id, hit.kind, hit.turn_ids, hit.speaker, hit.at, hit.text)


def _of_row(row: RecordRow, number: int) -> Piece:
    speaker = row.speaker.label if row.speaker else row.owner
    return Piece(number, row.id, row.kind, row.provenance, speaker, row.at, row.text)


@dataclass(frozen=True, slots=True)
class Fitted:
    """Pieces that a budget has room for, what they cost, and how many it has none for."""

    pieces: tuple[Piece, ...]
    tokens: int
    unshown: int

    @property
    def data(self) -> list[dict[str, object]]:
        """The pieces as a model is shown them."""
        return [piece.shown() for piece in self.pieces]

    @property
    def numbers(self) -> frozenset[int]:
        """Their numbers."""
        return frozenset(piece.number for piece in self.pieces)


def fitted(pieces: Sequence[Piece], budget: int) -> Fitted:
    """Return the pieces that fit into ``budget`` tokens, the first first; one that is too long leaves room for others.

    Where not even one fits there is none: nothing is cut to pieces that could be misread.
    """
    kept, left = list[Piece](), budget
    for piece in pieces:
        cost = piece.tokens()
        if cost <= left:
            kept.append(piece)
            left -= cost
    return Fitted(tuple(kept), budget - left, len(pieces) - len(kept))
