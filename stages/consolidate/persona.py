"""Personas: what somebody likes and why, and sides of who they are (AdaMem B.4), each from several turns.

Two turns at least speak for each: what was said once is an item, which recall finds as such, and one remark says little
of a person. Nothing that is suspect, only suggested, or no longer so comes this far.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from schemas.extracted import PREFERENCE_PREFIX, Slot
from schemas.memory import RecordContent, RecordKind, RecordRow
from schemas.normalized import Attitude
from stages.consolidate.contents import felt, in_order
from stages.consolidate.nodes import Node, thing_liked
from stages.consolidate.terms import terms
from stages.consolidate.topics import MOST_ROWS, MOST_TEXT, Theme, derived, distinct, label_of, stated
from stages.consolidate.units import about
from stages.consolidate.vocabulary import ATTITUDE

PERSONA: Final = "persona:"
"""How the attribute of a persona record begins."""

OTHER: Final = "other"
_NO_SIDE: Final = frozenset({OTHER, "preferences"})
"""Views that are no side of a person: the catch-all, and likes, which have records of their own."""

_FEELS: Final = {Attitude.POSITIVE: "likes", Attitude.NEGATIVE: "dislikes", Attitude.MIXED: "is of two minds about"}
_WISHING: Final = ("would", "'d")
_POSSESSION: Final = "possession:"
_REASONS: Final = 2
_REASON: Final = 160


@dataclass(frozen=True, slots=True)
class Side:
    """A persona record to be: its key behind ``PERSONA``, what it says first, and what it rests on, in order."""

    owner: str
    name: str
    head: str
    rows: tuple[RecordRow, ...]
    slots: tuple[Slot, ...] = ()
    attitude: Attitude = Attitude.NONE
    text: str | None = None

    def record(self) -> RecordContent:
        """Return the persona record."""
        said = self.text if self.text is not None else stated(self.rows, MOST_TEXT - len(self.head))
        made = derived(RecordKind.PERSONA, self.owner, f"{PERSONA}{self.name}", f"{self.head}{said}", self.rows)
        return made.model_copy(update={"slots": self.slots, "attitude": self.attitude})


def reasons(turns: Iterable[RecordRow]) -> dict[str, str]:
    """Return the reason that each turn gives for how its speaker feels (z_t), by turn id."""
    told = ((row.turn.turn_id, row.turn.z.reason) for row in turns if row.turn is not None)
    return {turn_id: reason.text for turn_id, reason in told if reason is not None}


def preference(theme: Theme, why: Mapping[str, str]) -> Side | None:
    """Return what a theme says of its owner's likes; ``None`` where nobody says that, or only once."""
    said = [row for row in theme.rows if _is_liking(row)]
    thing = thing_liked(theme.rows, said)
    attitude = felt(row.attitude for row in said)
    if thing is None or attitude is Attitude.NONE or not distinct(theme.rows):
        return None
    found = list(dict.fromkeys(_reason(row, why) for row in said))
    told = [reason for reason in found if reason][:_REASONS]
    slots = (Slot(name="object", value=thing), *(Slot(name="reason", value=reason) for reason in told))
    head = f"{theme.label} {_FEELS[attitude]} {thing}"
    head += f" (says: {'; '.join(told)}): " if told else ": "
    return Side(theme.owner, f"preference:{theme.name}", head, theme.rows, slots, attitude)


def _is_liking(row: RecordRow) -> bool:
    """Tell whether somebody says what they like; "I would love to" says what they want."""
    is_wish = any(term.text.endswith(_WISHING) for term in terms(row.text))
    return row.key is not None and row.key.attribute.startswith(PREFERENCE_PREFIX) and not is_wish


def _reason(row: RecordRow, why: Mapping[str, str]) -> str:
    """Return why a statement says that it is so; to like it is no reason to like it."""
    slot = next((slot.value for slot in row.slots if slot.name == "reason"), None)
    reason = (slot or why.get(row.provenance[0], ""))[:_REASON].strip().rstrip(".!")
    return "" if any(term.text in ATTITUDE for term in terms(reason)) else reason


def aspects(nodes: Sequence[Node]) -> list[Side]:
    """Return the sides of who an owner is.

    Rules file a sentence under a view by a cosine, which says little of a person: of theirs only attributes count that
    the form of the sentence names ("lives in"), without what is merely had or got; of a model's all.
    """
    found: dict[str, list[RecordRow]] = defaultdict(list)
    for row in in_order(row for node in nodes for row in node.rows):
        named = about(row)[2]
        is_sure = row.view_set > 0 or (named is not None and not named.startswith(_POSSESSION))
        if row.kind is RecordKind.ATTRIBUTE and _aspect(row) not in _NO_SIDE and is_sure:
            found[_aspect(row)].append(row)
    return [
        _side(nodes[0].owner, aspect, rows[-MOST_ROWS:]) for aspect, rows in sorted(found.items()) if distinct(rows)
    ]


def _aspect(row: RecordRow) -> str:
    """Return what side of a person an attribute is of: the view that took it, which is what it looks for."""
    return row.views[0] if row.views else OTHER


def _side(owner: str, aspect: str, rows: Sequence[RecordRow]) -> Side:
    head = f"{label_of(owner, rows)} \u2014 {aspect}: "
    return Side(owner, f"aspect:{aspect}", head, tuple(rows))
