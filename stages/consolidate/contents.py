"""What comes in the place of several records: nothing of where they came from is lost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from schemas.consolidation import Named
from schemas.memory import RecordContent, RecordRow
from schemas.normalized import Attitude
from stages.stored import text_hash

_PLACED: Final = frozenset({"row", "schema_version", "space", "id", "since"})
"""Fields of a row that say where it stands, and no content."""


def said_at(row: RecordRow) -> int:
    """Return the position of the first turn that a record rests on."""
    return row.since if row.said_at is None else row.said_at


def place(row: RecordRow) -> tuple[int, int, str]:
    """Return where a record stands among all of its space, by when it was first said."""
    return said_at(row), row.since, row.id


def in_order(rows: Iterable[RecordRow]) -> list[RecordRow]:
    """Return records in the order in which they were first said."""
    return sorted(rows, key=place)


def named(rows: Iterable[RecordRow], *, retired: bool) -> tuple[Named, ...]:
    """Return records as a decision names them, in order."""
    return tuple(Named(id=row.id, text_hash=text_hash(row.text), retired=retired) for row in rows)


def content(row: RecordContent, **changed: object) -> RecordContent:
    """Return what a record says, with some of it changed; a deep copy of nothing, since all of it is frozen."""
    kept = {name: getattr(row, name) for name in RecordContent.model_fields if name not in _PLACED}
    return RecordContent.model_validate(kept | changed)


def united(rows: Sequence[RecordRow], kept: RecordRow, text: str) -> RecordContent:
    """Return the record that stands for several: the words of ``kept``, or a rewrite, and the sources of all.

    Time, speaker, session and quotation are those of the one that was said first, whose turn comes first too.
    """
    ordered = in_order(rows)
    first = ordered[0]
    return content(
        kept,
        text=text,
        speaker=first.speaker,
        at=first.at,
        session=first.session,
        branch=first.branch,
        span=first.span,
        views=_distinct(view for row in ordered for view in row.views),
        slots=_distinct(slot for row in (kept, *ordered) for slot in row.slots),
        attitude=felt(row.attitude for row in ordered),
        provenance=_distinct(turn for row in ordered for turn in row.provenance),
        degraded=any(row.degraded for row in ordered),
        said_at=said_at(first),
        stands_for=tuple(row.id for row in ordered),
        occurrences=sum(row.occurrences for row in ordered),
        run=None,
    )


def felt(attitudes: Iterable[Attitude]) -> Attitude:
    """Return the attitude of several records: the one that there is; of different ones mixed."""
    found = set(attitudes) - {Attitude.NONE}
    if not found:
        return Attitude.NONE
    return found.pop() if len(found) == 1 else Attitude.MIXED


def _distinct(values: Iterable[object]) -> tuple[object, ...]:
    return tuple(dict.fromkeys(values))
