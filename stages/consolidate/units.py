"""What may ever become one record: open statements that have left working memory, by kind, key, branch and time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from schemas.memory import ITEM_KINDS, RecordKind, RecordRow
from schemas.normalized import Attitude
from stages.consolidate.contents import felt, in_order, said_at
from stages.consolidate.plan import Live
from stages.consolidate.terms import Term, terms
from stages.stored import UNDONE

BRANCH: Final = "branch:"
"""How the subject of a key begins that names the root of a branch."""


@dataclass(frozen=True)  # no slots: what is asked for repeatedly is kept
class Unit:
    """Records that are one statement, in the order in which they were said, and the words that stand for it.

    ``kept`` is the record whose words they are, or from which a rewrite took its key; ``why`` is for people.
    """

    rows: tuple[RecordRow, ...]
    kept: RecordRow
    text: str
    why: str = ""

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """The statement's terms."""
        return terms(self.text)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The statement's words, whatever its case."""
        return tuple(term.text for term in self.terms)

    @cached_property
    def attitude(self) -> Attitude:
        """How all of them feel."""
        return felt(row.attitude for row in self.rows)

    def with_(self, others: Iterable[Unit], text: str, why: str) -> Unit:
        """Return this unit with the records of others."""
        rows = in_order(row for unit in (self, *others) for row in unit.rows)
        return Unit(tuple(rows), self.kept, text, why)


def as_told(unit: Unit) -> tuple[int, str]:
    """Return where a unit stands in a request: the same before and after its records became one."""
    return said_at(unit.rows[0]), unit.text


def statements(live: Iterable[Live]) -> list[RecordRow]:
    """Return the records that consolidation may put together, in order."""
    return in_order(one.row for one in live if _is_settled(one))


def _is_settled(one: Live) -> bool:
    row = one.row
    # never put together again, with anything: what comes of that would no longer tell where it is from
    undone = row.run is not None and row.run.startswith(UNDONE)
    sure = not (one.changed or one.working or row.suspect or row.rests_on is not None or undone)
    return sure and (row.kind in ITEM_KINDS or row.kind is RecordKind.STRUCTURED)


def group_of(row: RecordRow) -> Hashable:
    """Return what two records must have in common to be one: kind, key, branch, time, polarity, values."""
    time = None if row.interval is None else (row.interval.start, row.interval.end)
    branch = None if _is_persona(row) else row.branch
    return row.kind, *about(row), branch, time, row.negated, _values(row)


def about(row: RecordRow) -> tuple[str | None, str | None, str | None]:
    """Return owner, subject and attribute as far as they tell things apart.

    Where rules know no attribute they write the view and the first telling word of the sentence: no name of anything.
    """
    if row.key is None:
        return row.owner, None, None
    attribute = row.key.attribute
    is_name = attribute.partition(":")[0] not in row.views or ":" not in attribute
    return row.key.owner, row.key.subject, attribute if is_name else None


def _is_persona(row: RecordRow) -> bool:
    """Tell whether a record says who someone is: that has no subject, and holds in all branches."""
    return row.kind is RecordKind.ATTRIBUTE and row.key is not None and row.key.subject is None


def _values(row: RecordRow) -> tuple[object, ...]:
    """Return what of a structured record must be equal; slots may be filled by one record only, and not otherwise."""
    return (row.form, row.numbers, row.more) if row.kind is RecordKind.STRUCTURED else ()


def forbidden(left: Unit, right: Unit) -> str | None:
    """Return why two units of one group may never be one, whatever their words are; ``None`` if they may."""
    if left.attitude is not right.attitude and Attitude.NONE not in {left.attitude, right.attitude}:
        return "felt about otherwise"
    return "other values" if fill_otherwise(left.rows, right.rows) else None


def fill_otherwise(left: Sequence[RecordRow], right: Sequence[RecordRow]) -> bool:
    """Tell whether both fill a slot, with nothing in common."""
    here, there = _slots(left), _slots(right)
    return any(not here[name] & there[name] for name in here.keys() & there.keys())


def _slots(rows: Sequence[RecordRow]) -> dict[str, set[tuple[str, ...]]]:
    found: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for row in rows:
        for slot in row.slots:
            found[slot.name].add(tuple(term.text for term in terms(slot.value)))
    return found
