"""Edits of a list in words: "replace the second one with …", "drop the last", "swap 1 and 3" (English, by rules)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from stages.text.ordinals import GENERIC, ORDINAL, Ordinal, ordinal
from stages.text.sentences import sentence_bounds
from stages.text.tokens import content_tokens


class Act(Enum):
    """What an edit does with a member."""

    REPLACE = auto()
    DROP = auto()
    SWAP = auto()
    BEFORE = auto()
    AFTER = auto()


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit as it is said. ``at`` is the member it is about, ``other`` that of a swap, ``said`` the new text.

    ``nouns`` are the stems of what its members are called ("the last café") where it is no word that any list's
    members go by; ``named`` says that it speaks of a list at all.
    """

    act: Act
    at: Ordinal
    other: Ordinal | None = None
    said: str = ""
    nouns: frozenset[str] = frozenset()
    named: bool = False


_POLITE = (
    r"^(?:(?:ok(?:ay)?|please|now|then|and|actually|hm+|no|yes|great|thanks|so|let's|let\s+us|can\s+you|could\s+you"
    r"|would\s+you|will\s+you|you\s+can|i'd\s+like\s+(?:you\s+)?to|i\s+want\s+(?:you\s+)?to)\b[\s,:;\u2014-]*){0,6}"
)
_REF = rf"(?:(?:the\s+)?(?:{ORDINAL})(?:\s+(?P<{{0}}_noun>[^\W\d_]+(?:\s+on\s+(?:the|that|your)\s+list)?))?)"


def _ref(group: str) -> str:
    return rf"(?P<{group}>{_REF.replace('{0}', group)})"


_ON = r"(?:\s+(?:from|on|in|of)\s+(?P<whole>(?:the|that|your|this|my)\s+[^\W\d_]+(?:\s+[^\W\d_]+){0,2}))?"
_END = r"(?:\s*,?\s*(?:please|instead|now|then|thanks|thank\s+you))*\s*[.!?\u2026]*\s*$"
_PATTERNS: Sequence[tuple[Act, re.Pattern[str]]] = tuple(
    (act, re.compile(_POLITE + pattern + _END, re.IGNORECASE))
    for act, pattern in (
        (
            Act.SWAP,
            rf"(?:swap|switch|exchange)\s+(?:numbers?\s+|items?\s+|steps?\s+)?{_ref('at')}\s+(?:and|with)\s+{_ref('other')}{_ON}",
        ),
        (
            Act.REPLACE,
            rf"(?:replace|change|switch|swap)\s+(?:out\s+)?{_ref('at')}{_ON}\s+(?:with|for|to|by|into)\s+(?P<said>\S.*?)",
        ),
        (
            Act.DROP,
            rf"(?:drop|remove|delete|scrap|strike|cut|(?:take|cross|leave|throw)\s+(?:out|off)|get\s+rid\s+of)\s+{_ref('at')}{_ON}",
        ),
        (Act.AFTER, rf"(?:add|insert|put)\s+(?P<said>\S.*?)\s+(?:right\s+)?after\s+{_ref('at')}{_ON}"),
        (Act.BEFORE, rf"(?:add|insert|put)\s+(?P<said>\S.*?)\s+(?:right\s+)?before\s+{_ref('at')}{_ON}"),
    )
)
_LONGEST = 300
"""Characters of a sentence that is looked at: an edit is one short request."""

_QUOTES = " \t\"'\u201c\u201d\u2018\u2019`*"
_ABOUT = frozenset(content_tokens("list steps plan table item step entry row bullet option suggestion point"))


def edits(text: str) -> Iterator[Edit]:
    """Yield the edits that a text asks for, in order; only sentences that ask for nothing else."""
    for start, end in sentence_bounds(text):
        if end - start <= _LONGEST:
            found = edit(text[start:end])
            if found is not None:
                yield found


def edit(sentence: str) -> Edit | None:
    """Return the edit that a sentence asks for, if that is all that it says."""
    for act, pattern in _PATTERNS:
        found = pattern.match(sentence)
        if found is not None:
            return _edit(act, found)
    return None


def _edit(act: Act, found: re.Match[str]) -> Edit | None:
    groups = found.groupdict()
    at = ordinal(groups["at"])
    other = ordinal(groups["other"]) if act is Act.SWAP else None
    if at is None or (act is Act.SWAP and other is None):
        return None
    said = (groups.get("said") or "").strip(_QUOTES)
    if act in {Act.REPLACE, Act.AFTER, Act.BEFORE} and not said:
        return None
    words = " ".join(groups.get(part) or "" for part in ("at_noun", "other_noun", "whole"))
    stems = frozenset(content_tokens(words))
    return Edit(act, at, other, said, nouns=stems - GENERIC - _ABOUT, named=not stems.isdisjoint(_ABOUT))


def applied(edit_: Edit, members: Sequence[str], numbers: Sequence[int] = ()) -> tuple[str, ...] | None:
    """Return the members after an edit; ``None`` where it is about none of them, or would leave none."""
    at = edit_.at.index(len(members), numbers)
    other = edit_.other.index(len(members), numbers) if edit_.other is not None else at
    if at is None or other is None:
        return None
    changed = list(members)
    match edit_.act:
        case Act.SWAP:
            changed[at], changed[other] = changed[other], changed[at]
        case Act.REPLACE:
            changed[at] = edit_.said
        case Act.DROP:
            del changed[at]
        case Act.BEFORE | Act.AFTER:
            changed.insert(at + (edit_.act is Act.AFTER), edit_.said)
    return tuple(changed) if changed and changed != list(members) else None
