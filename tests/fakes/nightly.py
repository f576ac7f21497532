"""Small memories for consolidation, and what a plan makes of them: route's part in a few lines, kept honest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from schemas.consolidation import Act, Decision
from schemas.extracted import Key
from schemas.header import RecordRole, record_id
from schemas.memory import ITEM_KINDS, CloseCause, ClosedRow, LeftRow, RecordKind, RecordRow, Row
from schemas.space import Space
from schemas.turn import Speaker
from stages.consolidate import Plan, live
from stages.stored import text_hash

SPACE = Space("acme/night")
START = datetime(2026, 3, 2, 9, tzinfo=UTC)


def remembered(text: str, since: int = 0, **fields: Any) -> RecordRow:
    """Return an item as rules write it: a fact of Mia's in one thread, under a key that names no attribute."""
    owner = fields.get("owner", "mia")
    given: dict[str, Any] = {
        "space": SPACE,
        "id": record_id(SPACE, since, RecordRole.ITEM, fields.pop("ordinal", 0)),
        "kind": RecordKind.FACT,
        "text": text,
        "owner": owner,
        "speaker": Speaker(id=owner, name=owner.title()),
        "at": START + timedelta(minutes=since),
        "key": Key(owner=owner, subject="branch:0", attribute="other:statement"),
        "views": ("other",),
        "provenance": (f"t{since}",),
        "since": since,
        "branch": 0,
    }
    return RecordRow(**given | fields)


def left(rows: Iterable[RecordRow]) -> list[Row]:
    """Return the rows of items that have left working memory."""
    made = list(rows)
    gone = [
        LeftRow(space=row.space, id=row.id, position=row.since + 20)
        for row in made
        if row.kind in ITEM_KINDS and row.run is None
    ]
    return [*made, *gone]


def applied(rows: Sequence[Row], plan: Plan | Sequence[Decision], run: str = "night-1") -> list[Row]:
    """Return memory after a plan, each decision an event of its own; all of a decision is done, or nothing.

    A source that is not there, not open, or of another text refuses it, as route does.
    """
    decisions = plan.decisions if isinstance(plan, Plan) else plan
    after = list(rows)
    begin = max((row.since for row in after if isinstance(row, RecordRow)), default=0) + 100
    for position, decision in zip(count(begin), decisions, strict=False):
        standing = {one.row.id: one.row for one in live(after)}
        sources = [standing.get(one.id) for one in decision.sources]
        hashes = [row and text_hash(row.text) for row in sources]
        if hashes == [one.text_hash for one in decision.sources]:
            after += _rows(decision, position, run)
    return after


def _rows(decision: Decision, position: int, run: str) -> list[Row]:
    made = [
        RecordRow(
            **{name: getattr(one, name) for name in type(one).model_fields} | {"run": run},
            space=SPACE,
            id=record_id(SPACE, position, RecordRole.CONSOLIDATED, ordinal),
            since=position,
        )
        for ordinal, one in enumerate(decision.records)
    ]
    cause = CloseCause.UNDO if decision.act is Act.UNDO else CloseCause.MERGE
    closed = [
        ClosedRow(
            space=SPACE,
            id=one.id,
            until=position,
            cause=cause,
            successor=next((row.id for row in made if one.id in row.stands_for), made[0].id if made else None),
        )
        for one in decision.retired
    ]
    gone = [LeftRow(space=SPACE, id=row.id, position=position) for row in made if row.kind in ITEM_KINDS]
    return [*made, *closed, *gone]
