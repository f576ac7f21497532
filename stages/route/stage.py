"""route: from what a turn tells to rows (AdaMem 3.2, B.3; mechanics, route)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

from schemas.consolidation import Consolidation
from schemas.control import Body, Drain, Passed
from schemas.extracted import Extracted
from schemas.memory import LeftRow
from schemas.routed import Routed, RoutedRow
from stages.contract import Emit, Stage
from stages.ports import History, LanguageModel
from stages.route.brought import brought
from stages.route.consolidating import consolidate
from stages.route.gathering import gathered
from stages.route.ids import item_id, mark
from stages.route.judging import Judge, Judged
from stages.route.routers import Changes, route
from stages.route.rules import bands_of
from stages.route.state import Retired, RouteState
from stages.route.targets import Reader
from stages.route.turn import Turning, turn_rows
from stages.route.working import Leaving, Message, ordinals
from stages.stored import short


class _Left(NamedTuple):
    """The rows that say which items left working memory, what still waits, and how the rest was judged."""

    rows: tuple[LeftRow, ...]
    waiting: tuple[Message, ...]
    judging: tuple[int, ...]
    judged: Judged


@dataclass(frozen=True, slots=True)
class Route(Stage[Extracted | Passed, Routed, RouteState]):
    """Writes what a turn adds, and routes what leaves working memory.

    ``model`` names the encoder whose vectors arrive: thresholds of similarity belong to it. With ``language`` a model
    judges what leaves working memory; corrections are routed at once, by rules, in any case.
    """

    history: History
    model: str = ""
    language: LanguageModel | None = None
    name: ClassVar[str] = "route"

    def restore(self, parts: Mapping[str, bytes]) -> RouteState:
        """Return the state that was cut into ``parts``.

        Raises:
            ValueError: if a part is malformed.
        """
        return RouteState.from_parts(parts)

    async def prepare(self, messages: Sequence[Extracted | Passed]) -> None:
        """Do nothing: what is read depends on the state."""

    async def decide(self, message: Extracted | Passed, state: RouteState) -> Emit[Routed, RouteState]:
        """Return the rows of an event.

        A turn's own records are written at its own position, recallable at once; what of them changes older ones is
        decided when they leave working memory, corrections apart.

        Raises:
            Unavailable: if the index or the model does not answer.
        """
        if isinstance(message, Passed):
            return await self._passed(message, message.control.body, state)
        header = message.header
        reader = Reader(self.history, header.space, header.position, state)
        changes = Changes(header.space, header.position)
        turning = await turn_rows(reader, message, changes)
        speaker = short(message.localized.normalized.turn.speaker.id)
        working, leaving = state.working.pushed(speaker, turning.message)
        left = await self._route(reader, leaving, changes, turning)
        rows: list[RoutedRow] = [*turning.rows(degraded=message.degraded or left.judged.degraded), *changes.edges]
        rows += [*changes.closed, *changes.changed, *left.rows, *turning.withdrawn]
        # not looked at again, which takes 3 % of the stage: all of it are checked models
        routed = Routed.model_construct(
            header=header, source=message, rows=tuple(rows), vectors=turning.vectors, **left.judged._asdict()
        )
        after = turning.state_after(replace(state, working=working, waiting=left.waiting, judging=left.judging))
        return Emit(routed, after.with_retired(_retired(header.position, changes, turning)))

    async def _passed(self, message: Passed, body: Body, state: RouteState) -> Emit[Routed, RouteState]:
        if isinstance(body, Drain):
            return await self._drained(message, body.participant, state)
        if isinstance(body, Consolidation):
            return await self._consolidated(message, body, state)
        return Emit(Routed(header=message.header, source=message, rows=()), state)

    async def _consolidated(self, message: Passed, body: Consolidation, state: RouteState) -> Emit[Routed, RouteState]:
        header = message.header
        kept = state.without_old(header.position)
        done = await consolidate(Reader(self.history, header.space, header.position, kept), message, body)
        routed = Routed(header=header, source=message, rows=done.rows, vectors=done.vectors, stale=done.stale)
        judging = (*kept.judging, *done.judging)
        return Emit(routed, replace(kept.with_made(done.made, done.kept, kept.owed), judging=judging))

    async def _drained(self, message: Passed, participant: str | None, state: RouteState) -> Emit[Routed, RouteState]:
        header = message.header
        reader = Reader(self.history, header.space, header.position, state)
        changes = Changes(header.space, header.position)
        working, leaving = state.working.drained(short(participant) if participant is not None else None)
        fresh = None if message.read is None else await brought(reader, message.read, changes)
        if fresh is not None:
            leaving, state = (*leaving, fresh.leaving), fresh.state
            reader = Reader(self.history, header.space, header.position, state)
        left = await self._route(reader, leaving, changes, None)
        rows: list[RoutedRow] = [*(fresh.rows if fresh is not None else ()), *changes.edges]
        rows += [*changes.closed, *changes.changed, *left.rows]
        vectors = fresh.vectors if fresh is not None else ()
        routed = Routed(header=header, source=message, rows=tuple(rows), vectors=vectors, **left.judged._asdict())
        after = replace(state, working=working, waiting=left.waiting, judging=left.judging)
        return Emit(routed, after.with_retired(_retired(header.position, changes, None)))

    async def _route(
        self, reader: Reader, leaving: Sequence[Leaving], changes: Changes, turning: Turning | None
    ) -> _Left:
        """Send what is due through the routers."""
        withdrawn = {row.id for row in turning.withdrawn} if turning is not None else set[str]()
        bands, judged = bands_of(self.model), Judged()
        if self.language is None:
            due = await reader.due(leaving, withdrawn)
            route(due.items, due.candidates, bands, changes)
        else:
            due = await gathered(reader, leaving, withdrawn, now=turning is None)
            judged = await Judge(self.language, reader, bands, changes).judge(due, withdrawn)
        rows = (
            LeftRow(space=reader.space, id=item_id(reader.space, message.position, ordinal), position=reader.position)
            for segment in leaving
            for message in segment.messages
            for ordinal in ordinals(message.items)
        )
        return _Left(tuple(rows), due.waiting, due.judging, judged)


def _retired(position: int, changes: Changes, turning: Turning | None) -> Retired:
    """Return what an event retired, to be known until memory shows it.

    Pieces of a revised turn (whose successor is the turn's record) are left out: nothing asks for them again, and a
    long turn has a thousand.
    """
    turn = turning.records[0].id if turning is not None else None
    withdrawn = [row for row in turning.withdrawn if row.successor != turn] if turning is not None else []
    return Retired(
        position=position,
        closed=tuple(mark(row.id) for row in (*changes.closed, *withdrawn)),
        changed=tuple(mark(row.id) for row in changes.changed),
    )
