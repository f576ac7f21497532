"""The embedded runtime with the five real stages over a journal on disk, and a story for it to remember."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from infra.embedded_memory import EmbeddedMemory
from infra.memory_api import Sums, TurnState
from infra.models import HashEmbedder
from infra.stages import topology
from schemas.letter import Letter
from schemas.memory import RecordKind, RecordRow
from schemas.space import Space
from stages.ports import Embedder, Filter, Found
from streams.embedded import Embedded
from streams.journal import Journal
from streams.patience import Patience
from streams.state import Saved, load
from streams.topology import Topology
from tests.fakes.index import MemoryIndex
from tests.fakes.index_suite import Index

SPACE = Space("acme/u-1")
START = datetime(2026, 3, 2, 9, tzinfo=UTC)
STAGES = ("normalize", "localize_state", "extract_per_view", "route", "commit")
ALL_KINDS = frozenset(RecordKind)
EVER = 10**9
"""A position beyond all."""

MIA = {"id": "mia", "name": "Mia"}
BEN = {"id": "ben", "name": "Ben"}
BOT = {"id": "bot", "name": "Rook", "role": "agent"}
_CITIES = ("Oslo", "Berlin", "Rome", "Kiel", "Lisbon")
_LINES = (
    (MIA, "I live in {city}."),
    (BOT, "Noted. What else is new?"),
    (MIA, "Please book the dentist appointment for Monday."),
    (BOT, "Booked the appointment for Thursday at nine."),
    (MIA, "No, I said Tuesday."),
    (BEN, "I own a cello and {n} red cars."),
    (MIA, "Yesterday I bought {n} herrings at the harbour."),
    (BEN, "I love jazz from {city}."),
)


def said(turn_id: str, text: str, space: str = SPACE, *, minutes: float = 0, **more: Any) -> bytes:
    """Return a turn of Mia as it is published; ``more`` are its other fields."""
    at = (START + timedelta(minutes=minutes)).isoformat()
    return json.dumps({"space": space, "turn_id": turn_id, "speaker": MIA, "text": text, "at": at} | more).encode()


def story(count: int, space: str = SPACE, first: int = 0) -> list[bytes]:
    """Return turns with statements, changes and corrections, some hours apart."""
    turns = []
    for n in range(first, first + count):
        speaker, line = _LINES[n % len(_LINES)]
        text = line.format(city=_CITIES[n // len(_LINES) % len(_CITIES)], n=n)
        turns.append(said(f"t{n}", text, space, minutes=200 * n, speaker=speaker))
    return turns


def mixed(space: str = SPACE) -> list[bytes]:
    """Return a log with all that can become of an event: taken, repeated, revised, refused in several ways."""
    turns = story(12, space)
    return [
        *turns[:6],
        turns[2],
        said("blank", " ", space, minutes=1300),
        said("odd", "hello", space, at="noon"),
        b"no turn at all",
        said("away", "I live in Paris.", "evil/u-9"),
        *turns[6:],
        said("t6", "Yesterday I bought 60 herrings at the harbour.", space, minutes=1200, revision=1),
        said("t7", "I said something else.", space, minutes=1400),
        turns[0],
    ]


def wired(embedder: Embedder, index: Index) -> Topology:
    """Return the real stages, as the product wires them."""
    return topology(embedder, index, 1_000_000)


@dataclass
class RealHome:
    """A home on disk and an index; the runtime is made anew for each run, as by a new process."""

    folder: Path
    index: Index = field(default_factory=lambda: MemoryIndex(HashEmbedder().dimension))
    embedder: Embedder = field(default_factory=HashEmbedder)
    wire: Callable[[Embedder, Index], Topology] = wired

    @contextmanager
    def journal(self) -> Iterator[Journal]:
        """The journal, open inside the block."""
        opened = Journal(self.folder / "log.sqlite")
        try:
            yield opened
        finally:
            opened.close()

    def publish(self, bodies: Sequence[bytes], space: str = SPACE) -> None:
        with self.journal() as journal:
            journal.append(Space(space), bodies)

    async def run(self) -> None:
        """Process all that is pending."""
        with self.journal() as journal:
            await Embedded(self.wire(self.embedder, self.index), journal, self.index, Patience(tries=1)).run()

    async def tell(self, bodies: Sequence[bytes], space: str = SPACE, *, pace: int = EVER) -> None:
        """Publish events and process them, ``pace`` at a time."""
        for start in range(0, len(bodies), pace):
            self.publish(bodies[start : start + pace], space)
            await self.run()

    def memory(self, space: str = SPACE) -> list[str]:
        """Return the canonical rows of memory."""
        with self.journal() as journal:
            return list(journal.memory(Space(space)))

    def records(self, space: str = SPACE) -> list[RecordRow]:
        with self.journal() as journal:
            return [row for row in journal.rows(Space(space), "record ") if isinstance(row, RecordRow)]

    def letters(self) -> list[Letter]:
        with self.journal() as journal:
            return list(journal.letters())

    def sums(self) -> Sums:
        with self.journal() as journal:
            return EmbeddedMemory(journal, _unbuilt).sums()

    def turns(self, space: str = SPACE) -> list[TurnState]:
        with self.journal() as journal:
            return list(EmbeddedMemory(journal, _unbuilt).turns(Space(space)))

    def states(self, space: str = SPACE) -> dict[str, Saved]:
        """Return the stored state of each stage."""
        with self.journal() as journal:
            return {stage: load(journal.state(stage, space)) for stage in STAGES}

    async def indexed(self, space: str = SPACE, as_of: int = EVER) -> list[Found]:
        """Return all records that the index shows as of a position, closed ones too, by id."""
        everything = Filter(Space(space), as_of, ALL_KINDS, closed_too=True)
        return sorted(await self.index.matching(everything, 100_000), key=lambda found: found.record.id)


def _unbuilt() -> Any:
    msg = "a report needs no models"
    raise AssertionError(msg)
