"""A space through all write stages: turns in, committed rows out, into a memory that later events read as of p - W.

The forest is as simple as can be (each turn continues the one before, or the turn that it names); every other stage is
the real one. ``check`` holds the rows to what memory promises.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from schemas.consolidation import Consolidation, Decision
from schemas.control import Control, Drain, Passed
from schemas.extracted import Extracted
from schemas.header import EventKind, Header
from schemas.localized import Localized, Placement, Rule
from schemas.memory import (
    ChangedRow,
    CloseCause,
    ClosedRow,
    EdgeRow,
    EdgeType,
    LeftRow,
    RecordKind,
    RecordRow,
    Row,
    row_key,
)
from schemas.normalized import Normalized
from schemas.numbered import Numbered
from schemas.routed import Routed
from schemas.space import Space
from schemas.turn import Role, Speaker, Turn
from stages.commit import Commit, CommitState
from stages.contract import Emit, Reject
from stages.extract_per_view import ExtractPerView, ExtractState
from stages.normalize import Normalize, NormalizeState
from stages.ports import Embedder, LanguageModel
from stages.route import Route, RouteState
from tests.fakes.history import MemoryHistory
from tests.fakes.told import WordEmbedder

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
SPACE = Space("acme/u-42")
MIA = Speaker(id="u-1", name="Mia")
BOT = Speaker(id="bot", name="Rook", role=Role.AGENT)
BEN = Speaker(id="u-2", name="Ben")


@dataclass
class Flow:
    """``memory`` is what stages read, ``rows`` all that was committed, ``seen`` the rows of each event in order.

    ``router`` is route's model, ``routed`` what it gave of each event that was not refused.
    """

    embedder: Embedder = field(default_factory=WordEmbedder)
    memory: MemoryHistory = field(default_factory=MemoryHistory)
    rows: list[Row] = field(default_factory=list)
    seen: list[tuple[Row, ...]] = field(default_factory=list)
    normalizing: NormalizeState = field(default_factory=NormalizeState)
    extracting: ExtractState = field(default_factory=ExtractState)
    routing: RouteState = field(default_factory=RouteState)
    committing: CommitState = field(default_factory=CommitState)
    placed: dict[str, Placement] = field(default_factory=dict)
    last: str | None = None
    router: LanguageModel | None = None
    routed: list[Routed] = field(default_factory=list)
    idle: bool = False
    """Whether events pass by that no test looks at: they are routed once, and states are taken as they are."""

    @property
    def position(self) -> int:
        return len(self.seen)

    async def say(
        self, text: str, turn_id: str | None = None, *, speaker: Speaker = MIA, **more: Any
    ) -> tuple[Row, ...]:
        """Say something; return the rows that it brought. ``root=True`` begins a branch, ``days`` moves time on."""
        root, days = more.pop("root", False), more.pop("days", 0)
        name = turn_id or f"t{self.position}"
        at = START + timedelta(minutes=self.position, days=days)
        turn = Turn(**{"space": SPACE, "turn_id": name, "speaker": speaker, "text": text, "at": at, **more})
        header = self._header(EventKind.TURN, name)
        normalized = await Normalize(self.embedder, self.memory).decide(
            Numbered(header=header, event=turn), self.normalizing
        )
        if isinstance(normalized, Reject):
            return self._skip()
        assert isinstance(normalized, Emit), normalized
        assert isinstance(normalized.message, Normalized)
        self.normalizing = normalized.state
        placement = self._placement(turn, root=root)
        return await self.pour(Localized(header=header, normalized=normalized.message, placement=placement))

    async def pour(self, localized: Localized) -> tuple[Row, ...]:
        """Take a localized turn through the stages behind."""
        extracted = await ExtractPerView(self.embedder, self.memory).decide(localized, self.extracting)
        assert isinstance(extracted, Emit)
        self.extracting = extracted.state if self.idle else ExtractState.from_parts(extracted.state.parts())
        return await self.route(extracted.message)

    async def drain(self, participant: str | None = None) -> tuple[Row, ...]:
        """Drain working memory by a control event."""
        name = f"drain-{self.position}"
        control = Control(space=SPACE, event_id=name, at=START, body=Drain(participant=participant))
        return await self.route(
            await self.passed(Passed(header=self._header(EventKind.CONTROL, name), control=control))
        )

    async def passed(self, message: Passed) -> Passed:
        """Return what extraction makes of a control event: without a model nothing."""
        return message

    async def consolidate(self, *decisions: Decision, run: str = "r1") -> tuple[Row, ...]:
        """Let a run decide."""
        body = Consolidation(run=run, part=0, decisions=decisions)
        name = f"{run}-{self.position}"
        control = Control(space=SPACE, event_id=name, at=START, body=body)
        passed = Passed(header=self._header(EventKind.CONTROL, name), control=control)
        told = await ExtractPerView(self.embedder, self.memory).decide(passed, self.extracting)
        assert isinstance(told, Emit)
        return await self.route(told.message)

    async def route(self, message: Extracted | Passed) -> tuple[Row, ...]:
        """Route and commit one event. States go through their parts each time, as they do in a restart."""
        stage = Route(self.memory, self.embedder.model, self.router)
        routed = await stage.decide(message, self.routing)
        assert isinstance(routed, Emit), routed
        if self.idle:
            self.routing = routed.state
        else:
            again = await stage.decide(message, self.routing)
            assert isinstance(again, Emit)
            assert again.message == routed.message
            self.routing = RouteState.from_parts(routed.state.parts())
            assert self.routing == routed.state
        committed = await Commit(self.embedder).decide(routed.message, self.committing)
        assert isinstance(committed, Emit), committed
        self.committing = committed.state if self.idle else CommitState.from_parts(committed.state.parts())
        vectors = [(one.record_id, one.vector) for one in committed.message.vectors]
        self.memory.add(committed.message.rows, vectors)
        self.rows += committed.message.rows
        self.seen.append(committed.message.rows)
        self.routed.append(routed.message)
        return committed.message.rows

    def _skip(self) -> tuple[Row, ...]:
        self.seen.append(())
        return ()

    def _header(self, kind: EventKind, name: str) -> Header:
        return Header(space=SPACE, position=self.position, kind=kind, event_id=name, offset=self.position)

    def _placement(self, turn: Turn, *, root: bool) -> Placement:
        parent = self.placed.get(turn.reply_to or self.last or "") if not root else None
        mine = self.position
        if parent is None:
            placement = Placement(rule=Rule.NEW_ROOT, branch=mine, interaction=mine)
        else:
            placement = Placement(
                parent_turn_id=turn.reply_to or self.last,
                parent_position=parent.interaction,
                rule=Rule.RANKED,
                branch=parent.branch,
                interaction=mine,
            )
        self.placed[turn.turn_id], self.last = placement, turn.turn_id
        return placement

    def records(self, *kinds: RecordKind) -> list[RecordRow]:
        """Return the records of these kinds in the order in which they were written."""
        return [row for row in self.rows if isinstance(row, RecordRow) and row.kind in kinds]

    def edges(self, kind: EdgeType) -> list[EdgeRow]:
        return [row for row in self.rows if isinstance(row, EdgeRow) and row.type is kind]

    def closed(self, cause: CloseCause) -> list[ClosedRow]:
        return [row for row in self.rows if isinstance(row, ClosedRow) and row.cause is cause]

    def changed(self) -> list[ChangedRow]:
        return [row for row in self.rows if isinstance(row, ChangedRow)]

    def text(self, record_id: str | None) -> str:
        """Return the text of a record."""
        return next(row.text for row in self.rows if isinstance(row, RecordRow) and row.id == record_id)

    def check(self) -> None:
        """Hold all rows to memory's promises: unique keys, provenance, what is named exists, retired once."""
        known, closed, changed, left = set[str](), set[str](), set[str](), set[str]()
        keys = [row_key(row) for row in self.rows]
        assert len(keys) == len(set(keys))
        for rows in self.seen:
            known |= {row.id for row in rows if isinstance(row, RecordRow)}
            for row in rows:
                match row:
                    case RecordRow():
                        assert row.provenance
                    case EdgeRow():
                        assert {row.source, row.target} <= known, row
                    case ClosedRow():
                        assert row.id in known - closed, row
                        assert row.successor is None or row.successor in known
                        closed.add(row.id)
                    case ChangedRow():
                        assert row.id in known - changed - closed, row
                        assert row.successor in known
                        changed.add(row.id)
                    case LeftRow():
                        assert row.id in known - left, row
                        left.add(row.id)
                    case _:
                        pass
