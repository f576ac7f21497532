"""What the state holds of how a space's views come about: its chunks, their trace, candidates, and the active set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Self

from pydantic import TypeAdapter

from schemas.view import ItemKind, View, ViewSet
from stages.contract import WINDOW
from stages.extract_per_view.chunks import Chunk, Open
from stages.extract_per_view.hand import Hand
from stages.packed import Packed
from stages.ring import PlacedModel, Ring, part_start
from stages.stored import clip, short, whole

EVERY: Final = 50
"""N: chunks from one discovery to the next (AutoViewMem 3.1)."""

_TRACED_BYTES = 160
"""Bytes of a chunk in the trace."""

_TRACE_PART = 5
"""Chunks a part of the trace: a chunk writes some 700 bytes of it on average."""

_TURNS = 3
"""Turn ids that a candidate keeps: those of the chunks that call for it."""


class Traced(PlacedModel, Packed):
    """A chunk in the trace: ``position`` is its number, ``turn`` the id of its first turn (``short``)."""

    turn: str
    text: str


class Candidate(PlacedModel, Packed):
    """A candidate view that memory may not show yet: the event that proposed it, its number there, what it is."""

    ordinal: int
    name: str
    kind: ItemKind
    slots: tuple[str, ...]
    template: str
    turns: tuple[str, ...]

    @property
    def view(self) -> View:
        """The candidate as a view."""
        return View(
            id=candidate_id(self.position, self.ordinal),
            name=self.name,
            kind=self.kind,
            slots=self.slots,
            template=self.template,
        )


def candidate_id(position: int, ordinal: int) -> str:
    """Return the id of a candidate view: it sorts by neither part as a text, see ``order_of``."""
    return f"c{position}-{ordinal}"


def order_of(view_id: str) -> tuple[int, int]:
    """Return the position and the number of a candidate, by which candidates are in order."""
    position, _, ordinal = view_id.removeprefix("c").partition("-")
    return int(position), int(ordinal)


def candidate(position: int, ordinal: int, view: View, turns: tuple[str, ...]) -> Candidate:
    """Return a candidate as the state keeps it; of long turn ids nothing is kept."""
    return Candidate(
        position=position,
        ordinal=ordinal,
        name=view.name,
        kind=view.kind,
        slots=view.slots,
        template=view.template,
        turns=tuple(turn for turn in turns if short(turn) == turn)[:_TURNS],
    )


_COUNT = TypeAdapter(int)


@dataclass(frozen=True, slots=True)
class Learning:
    """``chunks`` counts those that were read, ``active`` is ``None`` until a set of the space's own converged.

    Parts ``open`` and ``held`` (of ``hand``), ``chunks``, ``active``, ``trace-N`` and ``candidates-N``; none before a
    model has read something.
    """

    hand: Hand = field(default_factory=Hand)
    chunks: int = 0
    active: ViewSet | None = None
    trace: Ring[Traced] = field(default_factory=Ring)
    candidates: Ring[Candidate] = field(default_factory=Ring)

    def parts(self) -> Mapping[str, bytes]:
        """Return it as named parts."""
        waiting = (("open", self.hand.open), ("held", self.hand.held))
        found = {name: turn.model_dump_json().encode() for name, turn in waiting if turn is not None}
        if self.chunks:
            found["chunks"] = _COUNT.dump_json(self.chunks)
        if self.active is not None:
            found["active"] = self.active.model_dump_json().encode()
        return {**found, **self.trace.parts("trace", _TRACE_PART), **self.candidates.parts("candidates", 1)}

    @classmethod
    def from_parts(cls, parts: Mapping[str, bytes]) -> Self:
        """Build it again.

        Raises:
            ValueError: if a part is malformed.
        """
        return cls(
            hand=Hand(*(Open.model_validate_json(parts[name]) if name in parts else None for name in ("open", "held"))),
            chunks=_COUNT.validate_json(parts["chunks"]) if "chunks" in parts else 0,
            active=ViewSet.model_validate_json(parts["active"]) if "active" in parts else None,
            trace=Ring.from_parts("trace", parts, Traced),
            candidates=Ring.from_parts("candidates", parts, Candidate),
        )

    def read(self, chunk: Chunk) -> Self:
        """Return it after a chunk; what is shaped as instructions leaves no trace from which views could come."""
        turn = short(chunk.turns[0].normalized.turn.turn_id)
        entry = Traced(position=self.chunks, turn=turn, text=clip(chunk.summary, _TRACED_BYTES))
        oldest = part_start(self.chunks - EVERY + 1, _TRACE_PART)
        trace = self.trace.push(*(() if chunk.suspect else (entry,)), keep_from=oldest)
        return replace(self, chunks=self.chunks + 1, trace=trace)

    def proposed(self, position: int, fresh: tuple[Candidate, ...]) -> Self:
        """Return it with candidates of the event at ``position``, without those that memory shows by now."""
        return replace(self, candidates=self.candidates.push(*fresh, keep_from=position - WINDOW + 1))

    @property
    def recent(self) -> tuple[Traced, ...]:
        """The last chunks, as many as lie between two discoveries."""
        return tuple(one for one in self.trace if one.position >= self.chunks - EVERY)


def named(turns: tuple[str, ...], otherwise: str) -> tuple[str, ...]:
    """Return the turns that can be named, at most ``_TURNS``, or else the one that is given."""
    found = tuple(dict.fromkeys(turn for turn in turns if whole(turn)))[:_TURNS]
    return found or (otherwise,)
