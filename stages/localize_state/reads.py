"""What the stage reads of memory: turns as of W events ago, at most one dense and one lexical search a turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from schemas.header import RecordRole, record_id
from schemas.interval import Interval
from schemas.memory import RecordKind, RecordRow
from schemas.space import Space
from stages.contract import WINDOW
from stages.localize_state.incoming import Incoming
from stages.ports import Filter, Found, History
from stages.text.similarity import permille
from stages.text.tokens import content_tokens

_FEW = 8
"""Older turns by each search that compete: an older branch is found by its best turns or not at all."""

_MANY = 256
"""Turns searched for those of an interval: similarity only orders them, the interval chooses."""

_ORDINARY = 1024
"""Characters of a text whose stems are kept: 2,048 of them are some 5 MB in a chat, 15 MB at most."""


@dataclass(frozen=True, slots=True)
class Hit:
    """An older turn: its record, the cosine in thousandths (0: not known), the BM25 score in thousandths."""

    record: RecordRow
    cosine: int = 0
    lexical: int = 0


def sees(space: Space, position: int, turn_ids: frozenset[str] | None = None) -> Filter:
    """Return the filter of turns that an event at ``position`` may read."""
    return Filter(space, position - WINDOW, frozenset({RecordKind.TURN}), turn_ids=turn_ids)


async def by_id(history: History, space: Space, position: int, turn_id: str) -> RecordRow | None:
    """Return the newest record of a turn by the client's id, if it is old enough to be read."""
    if position < WINDOW:
        return None
    found = await history.matching(sees(space, position, frozenset({turn_id})), _FEW)
    return next((one.record for one in found if one.record.turn and one.record.turn.turn_id == turn_id), None)


async def at(history: History, space: Space, position: int, taken: int) -> RecordRow | None:
    """Return the record of the turn that took the position ``taken``, closed or not, if it is old enough to be read."""
    if not 0 <= taken <= position - WINDOW:
        return None
    found = await history.fetch(space, position - WINDOW, [record_id(space, taken, RecordRole.TURN)])
    return found[0].record if found else None


async def similar(history: History, space: Space, turn: Incoming, *, widely: bool = False) -> list[Hit]:
    """Return older turns that are near in meaning or share words, in the order of their positions.

    ``widely`` reads enough of them to choose by time among them.
    """
    if turn.position < WINDOW:
        return []
    where, limit = sees(space, turn.position), _MANY if widely else _FEW
    near = (await history.nearest(where, [turn.vector], limit))[0]
    worded = (await history.lexical(where, [turn.tokens], limit))[0] if turn.tokens else []
    return _merged(turn, near, worded)


def few(hits: Sequence[Hit]) -> list[Hit]:
    """Return those of a wide search that a narrow one would have found."""
    near = sorted(hits, key=lambda hit: (-hit.cosine, hit.record.id))[:_FEW]
    worded = sorted((hit for hit in hits if hit.lexical), key=lambda hit: (-hit.lexical, hit.record.id))[:_FEW]
    chosen = {hit.record.id for hit in (*near, *worded)}
    return [hit for hit in hits if hit.record.id in chosen]


def lies_in(at: datetime, intervals: tuple[Interval, ...]) -> bool:
    """Tell whether a time lies in one of the intervals."""
    return any(interval.start <= at < interval.end for interval in intervals)


def content_of(record: RecordRow) -> tuple[str, ...]:
    """Return the content stems of an older turn; those of ordinary length are kept, since reads find them repeatedly.

    To stem what was found took a seventh of the stage.
    """
    return _content(record.text) if len(record.text) <= _ORDINARY else tuple(content_tokens(record.text))


@lru_cache(maxsize=2048)
def _content(text: str) -> tuple[str, ...]:
    return tuple(content_tokens(text))


def _merged(turn: Incoming, near: list[Found], worded: list[Found]) -> list[Hit]:
    dense = {found.record.id: permille(found.score) for found in near}
    lexical = {found.record.id: found.score for found in worded}
    records = {found.record.id: found.record for found in (*near, *worded)}
    hits = [Hit(record, dense.get(key, 0), lexical.get(key, 0)) for key, record in records.items()]
    usable = [hit for hit in hits if hit.record.turn and hit.record.turn.turn_id != turn.turn_id]
    return sorted(usable, key=lambda hit: (hit.record.since, hit.record.id))
