"""Decisions of a night, as whoever consolidates makes them: of rows that a test has seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from schemas.consolidation import Act, Consolidation, Decision, Named
from schemas.control import Control
from schemas.extracted import Key
from schemas.memory import ChangedRow, ClosedRow, RecordContent, RecordKind, RecordRow, Row
from schemas.space import Space
from stages.stored import text_hash
from streams.codec import canonical
from tests.fakes.sent import START


def named(row: RecordContent, name: str, *, retired: bool = False) -> Named:
    """Return a record as a decision names it."""
    return Named(id=name, text_hash=text_hash(row.text), retired=retired)


def content(row: RecordContent, **more: Any) -> RecordContent:
    """Return what a record says, with other fields."""
    return RecordContent(**{name: getattr(row, name) for name in RecordContent.model_fields} | more)


def merged(rows: Sequence[RecordRow], text: str | None = None, **more: Any) -> RecordContent:
    """Return the record that stands for these: the first one's, resting on all of their turns."""
    order = sorted(rows, key=_said)
    told = {
        "text": text if text is not None else order[0].text,
        "provenance": tuple(dict.fromkeys(turn for row in order for turn in row.provenance)),
        "views": tuple(sorted({view for row in order for view in row.views})),
        "said_at": _said(order[0]),
        "stands_for": tuple(row.id for row in order),
        "occurrences": sum(row.occurrences for row in order),
    }
    return content(order[0], **(told | more))


def _said(row: RecordRow) -> int:
    return row.since if row.said_at is None else row.said_at


def duplicate(*rows: RecordRow, text: str | None = None, act: Act = Act.DUPLICATE, **more: Any) -> Decision:
    """Return the decision that one record takes the place of these."""
    sources = tuple(named(row, row.id, retired=True) for row in rows)
    return Decision(act=act, sources=sources, records=(merged(rows, text, **more),), reason="they say the same")


def topic(name: str, *rows: RecordRow, before: RecordRow | None = None, text: str = "") -> Decision:
    """Return the decision that a topic memory rests on these, in the place of an older one."""
    old = () if before is None else (named(before, before.id, retired=True),)
    return Decision(
        act=Act.TOPIC,
        sources=(*(named(row, row.id) for row in rows), *old),
        records=(derived(RecordKind.TOPIC, f"topic memory:{name}", rows, text or f"Of {name}."),),
        reason=f"all of {name}",
    )


def persona(attribute: str, *rows: RecordRow, text: str = "") -> Decision:
    """Return the decision that a persona record rests on these."""
    made = derived(RecordKind.PERSONA, f"persona:{attribute}", rows, text or f"Is {attribute}.", owner=rows[0].owner)
    return Decision(
        act=Act.PERSONA, sources=tuple(named(row, row.id) for row in rows), records=(made,), reason=attribute
    )


def derived(
    kind: RecordKind, attribute: str, rows: Sequence[RecordRow], text: str, owner: str | None = None
) -> RecordContent:
    return RecordContent(
        kind=kind,
        text=text,
        owner=owner,
        speaker=None,
        at=rows[0].at,
        key=Key(owner=owner or "", subject=None, attribute=attribute),
        provenance=tuple(dict.fromkeys(turn for row in rows for turn in row.provenance)),
        said_at=min(map(_said, rows)),
    )


def undone(row: RecordRow, *former: RecordRow) -> Decision:
    """Return the decision that takes a merge back."""
    return Decision(
        act=Act.UNDO,
        sources=(named(row, row.id, retired=True),),
        records=tuple(content(one, said_at=_said(one)) for one in former),
        reason="taken back",
    )


def published(space: str, run: str, *decisions: Decision) -> bytes:
    """Return a part of a run, as the system publishes it."""
    body = Consolidation(run=run, part=0, decisions=decisions)
    return canonical(Control(space=Space(space), event_id=f"consolidate:{run}:0", at=START, body=body)).encode()


def standing(rows: Iterable[Row], *kinds: RecordKind) -> list[RecordRow]:
    """Return the open records of these kinds that nothing has changed, oldest first."""
    every = list(rows)
    gone = {row.id for row in every if isinstance(row, ClosedRow | ChangedRow)}
    found = (row for row in every if isinstance(row, RecordRow) and row.id not in gone and row.kind in kinds)
    return sorted(found, key=lambda row: (row.since, row.id))
