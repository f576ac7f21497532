"""A small honest memory behind the ``Memory`` protocol: a log, one pass over it, rows, letters, word overlap."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import perf_counter

from pydantic import ValidationError

from infra.answering import Answering
from infra.memory_api import Progress, SpaceStatus, StageStatus, Sums, TurnState
from infra.settings import Settings
from schemas.answer import Answer, Asked
from schemas.header import record_id
from schemas.letter import Letter
from schemas.localized import Placement, Rule
from schemas.memory import OutcomeRow, OutcomeState, RecordKind, RecordRow, Row, TurnDetail, row_key
from schemas.normalized import Attitude, Understanding
from schemas.recall import Bundle, ContextInput, Hit, Line, Part, Question, Recalled
from schemas.space import Space
from schemas.turn import Turn
from stages.text.tokens import content_tokens


@dataclass
class FakeMemory:
    """Remembers turns as they are. ``pause`` is awaited before each event, so that a test can stop it there.

    ``extra`` are rows that stand in every space's memory too, ``answering`` has the language model that a test gives.
    """

    log: list[tuple[str, bytes]] = field(default_factory=list)
    done: int = 0
    duplicates: int = 0
    kept: dict[Space, list[Row]] = field(default_factory=dict)
    refused: list[Letter] = field(default_factory=list)
    opened: list[bool] = field(default_factory=list)
    pause: Callable[[], None] = lambda: None
    extra: list[Row] = field(default_factory=list)
    answering: Answering = field(default_factory=Answering)

    @asynccontextmanager
    async def open(
        self, settings: Settings, *, wait: bool = True, progress: Callable[[Progress], None] | None = None
    ) -> AsyncIterator[FakeMemory]:
        self.opened.append(wait)
        if wait:
            await self.run(progress)
        yield self

    async def publish(self, space: Space, payloads: Sequence[bytes], *, own: bool = False) -> None:
        self.log.extend((space, payload) for payload in payloads)

    async def run(self, progress: Callable[[Progress], None] | None = None) -> None:
        start, total = self.done, len(self.log) - self.done
        while self.done < len(self.log):
            self.pause()
            await asyncio.sleep(0)
            self._take(*self.log[self.done])
            self.done += 1
            if progress:
                progress(Progress(self.done - start, total, {"normalize": len(self.log) - self.done}))

    def _take(self, key: str, payload: bytes) -> None:
        try:
            turn = Turn.model_validate_json(payload)
        except ValidationError as error:
            self._refuse(key, payload, None, error.errors()[0]["msg"])
            return
        rows = self.kept.setdefault(turn.space, [])
        if turn.space != key:
            self._refuse(key, payload, turn.turn_id, f"published under {key}")
        elif any(isinstance(row, OutcomeRow) and row.event_id == turn.turn_id for row in rows):
            self.duplicates += 1
        else:
            position = sum(isinstance(row, OutcomeRow) for row in rows)
            rows.append(turn_record(turn, position))
            rows.append(
                OutcomeRow(space=turn.space, position=position, event_id=turn.turn_id, state=OutcomeState.COMMITTED)
            )

    def _refuse(self, key: str, payload: bytes, turn_id: str | None, reason: str) -> None:
        number = len(self.refused)
        self.refused.append(
            Letter(
                letter_id=f"letter-{number}",
                space=key,
                turn_id=turn_id,
                position=None,
                stage="normalize",
                reason=reason,
                topic="turns",
                offset=self.done,
                original=payload,
            )
        )

    def sums(self) -> Sums:
        committed = sum(isinstance(row, OutcomeRow) for rows in self.kept.values() for row in rows)
        pending = len(self.log) - self.done
        return Sums(len(self.log), committed, len(self.refused), self.duplicates, 0, pending)

    async def recall(self, space: Space, question: Question, after: str | None = None) -> Recalled:
        asked = set(content_tokens(question.question))
        scored = [
            (len(asked & set(content_tokens(row.text))), row)
            for row in self.rows(space)
            if isinstance(row, RecordRow) and row.turn and (question.as_of is None or row.since <= question.as_of)
        ]
        best = sorted((pair for pair in scored if pair[0]), key=lambda pair: (-pair[0], pair[1].id))[: question.k]
        hits = tuple(
            Hit(
                record_id=row.id,
                kind=row.kind,
                turn_ids=row.provenance,
                speaker=row.speaker.label if row.speaker else None,
                at=row.at,
                text=row.text,
                score=float(score),
                why={"words": float(score)},
            )
            for score, row in best
        )
        behind = self.sums().pending
        return Recalled(id=question.id, hits=hits, stale=behind > 0, behind=behind, took_ms=0.5)

    async def profile(self, space: Space, question: Question, limit: int) -> tuple[RecordRow, ...]:
        return ()

    async def answer(self, space: Space, asked: Asked, after: str | None = None) -> Answer:
        first = await self.recall(space, asked.question, after)
        return await self.answering.answer(self, space, asked, first, perf_counter())

    async def context(self, space: Space, request: ContextInput, budget: int) -> Bundle:
        records = [row for row in self.rows(space) if isinstance(row, RecordRow)]
        last = max(records, key=lambda row: row.since)
        line = Line(part=Part.LOCAL, turn_ids=last.provenance, at=last.at, text=last.text[:budget], tokens=1)
        placed = Placement(parent_turn_id=last.provenance[0], rule=Rule.RANKED, score=7, branch=0, interaction=0)
        return Bundle(id=request.id, placement=placed, lines=(line,), tokens=1)

    def turns(self, space: Space) -> Iterator[TurnState]:
        for row in self.rows(space):
            if isinstance(row, OutcomeRow):
                yield TurnState(row.event_id, row.position, row.state, row.reason)
        for letter in self.letters(space):
            if letter.turn_id is not None:
                yield TurnState(letter.turn_id, None, OutcomeState.LETTERED, letter.reason)
        for key, payload in self.log[self.done :]:
            if key == space:
                yield TurnState(Turn.model_validate_json(payload).turn_id, None, None)

    def rows(self, space: Space) -> Iterator[Row]:
        return iter(sorted((*self.kept.get(space, ()), *self.extra), key=lambda row: (row.row, row_key(row))))

    def letters(self, space: Space | None = None) -> Iterator[Letter]:
        return (letter for letter in self.refused if space is None or letter.space == space)

    def inspect(self, space: Space) -> SpaceStatus:
        last = sum(isinstance(row, OutcomeRow) for row in self.rows(space)) - 1
        stage = StageStatus("commit", last, self.sums().pending, 100, 0)
        return SpaceStatus(space, last, last, (stage,), len(list(self.letters(space))), self.sums())


def turn_record(turn: Turn, position: int, detail: TurnDetail | None = None) -> RecordRow:
    """Return the record of a turn; it hangs under the turn that it replies to."""
    parent = turn.reply_to
    rule = Rule.EXPLICIT if parent else Rule.NEW_ROOT
    placed = Placement(parent_turn_id=parent, rule=rule, branch=position, interaction=position)
    z = Understanding(summary=turn.text, topic="", attitude=Attitude.NONE)
    plain = TurnDetail(
        turn_id=turn.turn_id, revision=turn.revision, reply_to=parent, z=z, times=(), mentions=(), placement=placed
    )
    return RecordRow(
        space=turn.space,
        id=record_id(turn.space, position, "turn"),
        kind=RecordKind.TURN,
        text=turn.text,
        owner=turn.speaker.id,
        speaker=turn.speaker,
        at=turn.at,
        provenance=(turn.turn_id,),
        since=position,
        turn=detail or plain,
    )
