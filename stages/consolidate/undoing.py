"""Taking a run back: what its records stand for comes again, as new records, and they are retired."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from schemas.consolidation import Act, Decision
from schemas.memory import ChangedRow, ClosedRow, RecordContent, RecordRow, Row
from stages.consolidate.contents import content, named, place, said_at
from stages.stored import REVISED, UNDONE


class UnknownRun(ValueError):  # noqa: N818 - named for what happened, as all of ours are
    """No record of memory is of this run."""


class TakenUp(ValueError):  # noqa: N818
    """A later run has put the run's records into its own: that one has to be taken back first."""


class NoNight(ValueError):  # noqa: N818
    """The run took another one back, or is a revision's: what it brought stands for nothing that could come again."""


def undone(rows: Iterable[Row], run: str) -> tuple[Decision, ...]:
    """Return what takes a run back, in order: a decision for each of its records that still stands.

    What a correction or a revision has closed since, or a change superseded, is left as it is: its words are no longer
    so. What comes again says when it was said at first; the run that brings it back marks it, and
    ``Consolidate.merges`` then leaves it alone.

    Raises:
        UnknownRun: if memory has no record of the run.
        NoNight: if the run is no night's, but brought something back.
        TakenUp: if a later run put one of its records into another.
        ValueError: if a record that it stood for is gone from memory.
    """
    _must_be_a_night(run)
    records: dict[str, RecordRow] = {}
    closed: dict[str, ClosedRow] = {}
    changed = set[str]()
    for row in rows:
        if isinstance(row, RecordRow):
            records[row.id] = row
        elif isinstance(row, ClosedRow):
            closed[row.id] = row
        elif isinstance(row, ChangedRow):
            changed.add(row.id)
    own = sorted((row for row in records.values() if row.run == run), key=lambda row: (row.since, row.id))
    if not own:
        msg = f"memory has no record of a run {run!r}"
        raise UnknownRun(msg)
    standing = (_standing(row, closed, records) for row in own)
    return tuple(_decision(row, records, run) for row in standing if row is not None and row.id not in changed)


def _must_be_a_night(run: str) -> None:
    """Raise ``NoNight`` if the records of a run came back: retired, they would have no successor."""
    if run.startswith((UNDONE, REVISED)):
        by = "took another one back" if run.startswith(UNDONE) else "is a revision's"
        msg = f"run {run!r} {by}, and can't be taken back itself: what it brought back stands for nothing else"
        raise NoNight(msg)


def _standing(row: RecordRow, closed: Mapping[str, ClosedRow], records: Mapping[str, RecordRow]) -> RecordRow | None:
    """Return a record of a run, or what a later undo brought back of it; ``None`` if it is closed for good."""
    if row.id not in closed:
        return row
    later = _taker(closed[row.id], records)
    if later is None:
        return None
    again = (one for one in records.values() if _is_again(one, row) and one.id not in closed)
    back = next(again, None)
    if back is None:
        msg = f"records of run {row.run!r} are part of those of run {later!r}: take that one back first"
        raise TakenUp(msg)
    return back


def _is_again(one: RecordRow, row: RecordRow) -> bool:
    """Tell whether a record is one that was brought back."""
    brought_back = one.run is not None and one.run.startswith(UNDONE)
    return brought_back and bool(one.stands_for) and (one.stands_for, one.text) == (row.stands_for, row.text)


def _taker(gone: ClosedRow, records: Mapping[str, RecordRow]) -> str | None:
    """Return the run whose record stands for a closed one, ``None`` if none does."""
    successor = records.get(gone.successor) if gone.successor is not None else None
    return successor.run if successor is not None and gone.id in successor.stands_for else None


def _decision(row: RecordRow, records: Mapping[str, RecordRow], run: str) -> Decision:
    return Decision(
        act=Act.UNDO,
        sources=named([row], retired=True),
        records=tuple(_again(row, records)),
        reason=f"run {run} is taken back",
    )


def _again(row: RecordRow, records: Mapping[str, RecordRow]) -> Iterator[RecordContent]:
    missing = [name for name in row.stands_for if name not in records]
    if missing:
        msg = f"the record {row.id} stands for {missing[0]}, which memory does not have: it can't be taken back"
        raise ValueError(msg)
    for former in sorted((records[name] for name in row.stands_for), key=place):
        yield content(former, said_at=said_at(former), run=None)
