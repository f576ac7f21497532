"""A small conversation in a ``MemoryIndex``, with the rows that the stages would write for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any

import numpy as np

from schemas.committed import Committed
from schemas.header import EventKind, Header, record_id
from schemas.interval import TimeMention
from schemas.localized import Placement, Rule
from schemas.memory import RecordKind, RecordRow, Row, TurnDetail
from schemas.normalized import Attitude, Understanding
from schemas.routed import RecordVector
from schemas.space import Space
from schemas.turn import Role, Speaker
from stages.text.tokens import content_tokens
from tests.fakes.index import MemoryIndex

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
MIA = Speaker(id="u-1", name="Mia")
BEN = Speaker(id="u-2", name="Ben Okafor")
BOT = Speaker(id="bot", name="Rook", role=Role.AGENT)


@dataclass
class WordEmbedder:
    """Vectors that are near where texts share words: each content token is a direction of its own by its hash."""

    dimension: int = 64
    asked: list[str] = field(default_factory=list)

    @property
    def model(self) -> str:
        return "words"

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        return [self.vector(text) for text in texts]

    async def embed_query(self, text: str) -> bytes:
        self.asked.append(text)
        return self.vector(text)

    def vector(self, text: str) -> bytes:
        total = np.zeros(self.dimension)
        for token in content_tokens(text) or [""]:
            bits = np.frombuffer(blake2b(token.encode(), digest_size=self.dimension // 8).digest(), np.uint8)
            total += np.unpackbits(bits) * 2.0 - 1
        length = float(np.linalg.norm(total)) or 1.0
        return np.rint(total / length * 127).astype(np.int8).tobytes()


@dataclass(frozen=True)
class Said:
    """One turn. ``days`` after the start; ``items`` are the statements taken from it; ``pieces`` split a long text."""

    turn_id: str
    speaker: Speaker
    text: str
    days: float = 0
    session: str = "s1"
    parent: str | None = None
    items: tuple[str, ...] = ()
    pieces: tuple[str, ...] = ()
    suspect: bool = False
    times: tuple[TimeMention, ...] = ()


@dataclass
class Told:
    """Turns in order, told one after the other. The ids of rows are those of ``row_id``."""

    space: Space = field(default_factory=lambda: Space("acme/u-1"))
    index: MemoryIndex = field(default_factory=lambda: MemoryIndex(64))
    embedder: WordEmbedder = field(default_factory=WordEmbedder)
    turns: list[Said] = field(default_factory=list)
    placed: dict[str, Placement] = field(default_factory=dict)

    def row_id(self, turn_id: str, role: str, ordinal: int = 0) -> str:
        """Return the id of a turn's ``turn``, ``window`` or ``fact`` record."""
        position = next(n for n, said in enumerate(self.turns) if said.turn_id == turn_id)
        return record_id(self.space, position, role, ordinal)

    async def say(self, *turns: Said) -> Told:
        """Add turns: each brings its items, the window of the one before, and its own record."""
        for said in turns:
            self.turns.append(said)
            self.placed[said.turn_id] = self._place(said)
            await self.event([*self._items(said), *self._window(), *self._own(said)])
        return self

    async def event(self, rows: Sequence[Row], at: int | None = None) -> None:
        """Write rows as the event at a position, by default the last turn's."""
        at = len(self.turns) - 1 if at is None else at
        header = Header(space=self.space, position=at, kind=EventKind.TURN, event_id=f"e{at}", offset=at)
        texts = {row.id: row.text for row in rows if isinstance(row, RecordRow)}
        vectors = tuple(RecordVector(record_id=key, vector=self.embedder.vector(text)) for key, text in texts.items())
        await self.index.write(self.space, [Committed(header=header, rows=tuple(rows), vectors=vectors)])

    def row(self, said: Said, kind: RecordKind, text: str, ordinal: int = 0, **fields: Any) -> RecordRow:
        """Return a record of a turn, known from the newest position on unless ``since`` is given."""
        position = self.turns.index(said)
        values: dict[str, Any] = {
            "provenance": (said.turn_id,),
            "since": len(self.turns) - 1,
            "branch": self.placed[said.turn_id].branch,
            "session": said.session,
            "suspect": said.suspect,
        }
        return RecordRow(
            space=self.space,
            id=record_id(self.space, position, kind.value, ordinal),
            kind=kind,
            text=text,
            owner=said.speaker.id,
            speaker=said.speaker,
            at=START + timedelta(days=said.days),
            **{**values, **fields},
        )

    def _place(self, said: Said) -> Placement:
        position = len(self.turns) - 1
        if said.parent is None:
            return Placement(rule=Rule.NEW_ROOT, branch=position, interaction=position)
        above = self.placed[said.parent]
        opens = said.speaker.role is not Role.AGENT
        return Placement(
            rule=Rule.RANKED,
            parent_turn_id=said.parent,
            branch=above.branch,
            interaction=position if opens else above.interaction,
            depth=above.depth + 1,
        )

    def _items(self, said: Said) -> list[RecordRow]:
        return [self.row(said, RecordKind.FACT, text, n) for n, text in enumerate(said.items)]

    def _window(self) -> list[RecordRow]:
        if len(self.turns) == 1:
            return []
        shown = self.turns[-3:]
        anchor = self.turns[-2]
        ids = dict.fromkeys((anchor.turn_id, *(said.turn_id for said in shown)))
        text = "\n".join(f"{said.speaker.label}: {said.text}" for said in shown)
        return [self.row(anchor, RecordKind.WINDOW, text, provenance=tuple(ids))]

    def _own(self, said: Said) -> list[RecordRow]:
        detail = TurnDetail(
            turn_id=said.turn_id,
            revision=0,
            reply_to=None,
            z=Understanding(summary=f"{said.speaker.label}: {said.text[:60]}", topic="", attitude=Attitude.NONE),
            times=said.times,
            mentions=(),
            placement=self.placed[said.turn_id],
        )
        return [
            self.row(said, RecordKind.TURN, text, n, piece=n, turn=None if n else detail)
            for n, text in enumerate(said.pieces or (said.text,))
        ]
