"""New versions of derived records: only what differs from what memory has is a decision."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from schemas.consolidation import MAX_SOURCES, Act, Decision
from schemas.memory import RecordContent, RecordKind, RecordRow
from stages.consolidate.contents import content, named, place
from stages.consolidate.persona import PERSONA
from stages.consolidate.plan import Live
from stages.consolidate.topics import TOPIC

_ACTS = {RecordKind.TOPIC: Act.TOPIC, RecordKind.PERSONA: Act.PERSONA}
_GONE = "what it rested on is gone, or of another theme now"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A derived record as it should be, and the records it rests on."""

    content: RecordContent
    rows: tuple[RecordRow, ...]
    reason: str


def decisions(wanted: Iterable[Wanted], live: Iterable[Live]) -> tuple[Decision, ...]:
    """Return what brings memory to what is wanted: nothing where it is so already."""
    standing: dict[tuple[str, ...], list[RecordRow]] = {}
    for row in (one.row for one in live if _is_derived(one.row)):
        standing.setdefault(_key(row), []).append(row)
    made: list[Decision] = []
    for one in wanted:
        old = sorted(standing.pop(_key(one.content), ()), key=place)
        if [_bare(row) for row in old] != [_bare(one.content)]:
            made.append(_replacing(one, old))
    gone = sorted((row for rows in standing.values() for row in rows), key=lambda row: (*_key(row), row.id))
    return (*made, *(_retiring(row) for row in gone))


def _is_derived(row: RecordRow) -> bool:
    attribute = "" if row.key is None else row.key.attribute
    return row.kind in _ACTS and attribute.startswith((TOPIC, PERSONA))


def _key(one: RecordContent) -> tuple[str, ...]:
    attribute = "" if one.key is None else one.key.attribute
    return one.kind, one.owner or "", attribute


def _bare(one: RecordContent) -> RecordContent:
    """Return what a derived record says, whichever run wrote it."""
    return content(one, run=None, stands_for=())


def _replacing(one: Wanted, old: Sequence[RecordRow]) -> Decision:
    rested = [row for row in one.rows if row.id not in {row.id for row in old}][-(MAX_SOURCES - len(old)) :]
    return Decision(
        act=_ACTS[one.content.kind],
        sources=(*named(rested, retired=False), *named(old, retired=True)),
        records=(one.content.model_copy(update={"stands_for": tuple(row.id for row in old)}),),
        reason=one.reason if not old else f"{one.reason}; it takes the place of an older version",
    )


def _retiring(row: RecordRow) -> Decision:
    return Decision(act=_ACTS[row.kind], sources=named([row], retired=True), records=(), reason=_GONE)
