"""What a rule sees of the turn: its moment, its text, and which way a clause looks in time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from stages.text.times.calendar import Toward
from stages.text.times.words import S

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime, timezone

    from stages.text.times.calendar import Stretch

# A clause is looked at no further than this many characters either way.
_REACH: Final = 90
_BREAK: Final = re.compile(r"[.!?;:|*\n]|\b(?:and|but|so)\s{1,3}(?:last|next|every|this)\s{1,3}time\b", re.IGNORECASE)
_FUTURE: Final = (
    r"will|'ll|\u2019ll|won't|shall|going\s{1,3}to|gonna|about\s{1,3}to|can't\s{1,3}wait"
    r"|look(?:ing)?\s{1,3}forward"
    r"|(?:plan|planned|planning|hope|hoping|want|decided|agreed|need|needs|have|has|ready|excited|like)"
    r"\s{1,3}to|plan(?:s|ning)?|upcoming|coming\s{1,3}up|let's|let\s{1,3}us|should|(?:re)?scheduled?"
    r"|postponed?|deadline|due"
    r"|soon|gotta|excited\s{1,3}for|(?:i'm|we're|he's|she's|they're|am|are|is)\s{1,3}(?!been\b)[a-z]+ing"
    r"|remind|book|schedule|until|till|ends|starts|begins|opens|launches|arrives|leaves"
)
_PERFECT: Final = (
    r"(?:have|has|had|'ve|\u2019ve|haven't|hasn't|'s|\u2019s)(?:\s{1,3}(?:already|just|only"
    r"|also|never|always|now|both"
    r"|really|not))?\s{1,3}(?:been|had|run|led|felt|[a-z]{2,}(?:ed|en|wn|ne|pt|ld|ught|de))"
)
_IRREGULAR: Final = (
    r"was|were|did|had|went|got|made|took|came|saw|met|ran|bought|began|found|felt|gave|told"
    r"|thought|brought|left|lost|kept|held|heard|wrote|read|spoke|spent|sent|sold|sang|swam|drove"
    r"|rode|flew|grew|knew|threw|wore|won|built|caught|taught|fought|fell|ate|drank|broke|chose"
    r"|became|said|stood|understood|slept|hurt|hit|put|set|wasn't|weren't|didn't|couldn't|hung|led"
    r"|paid|lent|dealt"
)
_PAST: Final = rf"{_PERFECT}|{_IRREGULAR}|[a-z]{{2,}}(?<!ne)(?<!e)ed|just{S}(?:back|got)|remember|since"
# A word's start, or that of "'ve" and "'ll", which stand within one.
_EDGE: Final = r"(?:(?<!\w)|(?=['\u2019]))"
_CUE: Final = re.compile(rf"{_EDGE}(?:(?P<future>{_FUTURE})|(?P<past>{_PAST}))(?!\w)", re.IGNORECASE)
_ENDING_NOW: Final = re.compile(rf"{_EDGE}(?:{_PERFECT}|been)(?!\w)", re.IGNORECASE)
_BEFORE: Final = re.compile(rf"(?<!\w)(?:(?P<past>since)|(?P<future>until|till|by)){S}(?:the{S})?\Z", re.IGNORECASE)


def phrase_span(match: re.Match[str]) -> tuple[int, int]:
    """Return the span of the phrase: of the group ``core`` where it took part, else of the match."""
    cored = "core" in match.re.groupindex and match["core"] is not None
    return match.span("core" if cored else 0)


class Context(NamedTuple):
    """The turn that rules read: ``now`` is its naive wall-clock time in the offset ``zone``."""

    text: str
    now: datetime
    zone: timezone

    def toward(self, start: int, end: int) -> Toward:
        """Tell which way the clause around ``[start, end)`` looks: PAST, FUTURE, or NEAR for no cue.

        The cue nearest before the expression decides, else the first one after it.
        """
        edge = _BEFORE.search(self.text, max(0, start - 16), start)
        if edge is not None:
            return Toward.PAST if edge["past"] else Toward.FUTURE
        before, after = self._clause(start, end)
        cue = next(reversed(list(_CUE.finditer(before))), None) or _CUE.search(after)
        if cue is None:
            return Toward.NEAR
        return Toward.FUTURE if cue["future"] else Toward.PAST

    def lasts_until_now(self, start: int, end: int) -> bool:
        """Tell whether a duration reaches up to now: said in the perfect, or alone, as an answer is."""
        before, after = self._clause(start, end)
        alone = not (before.strip() or _CUE.search(after) or after.strip(" ,:)"))
        return alone or bool(_ENDING_NOW.search(before))

    def _clause(self, start: int, end: int) -> tuple[str, str]:
        before = self.text[max(0, start - _REACH) : start]
        after = self.text[end : end + _REACH // 2]
        return _BREAK.split(before)[-1], _BREAK.split(after, maxsplit=1)[0]


class Rule(NamedTuple):
    """A kind of expression.

    ``words`` are the words, in small letters, one of which must be in the text for ``pattern`` to be tried
    (``"#"`` for any digit, ``"han"`` for a sign of time); so must one of ``also``, where there are any, which
    every match then holds. ``resolve`` returns None for what only looks like the kind. A group named ``core``
    narrows the phrase; ``cycle`` is "week" or "year" for what recurs so.
    """

    words: frozenset[str]
    pattern: re.Pattern[str]
    resolve: Callable[[re.Match[str], Context], Stretch | None]
    cycle: str = ""
    also: frozenset[str] = frozenset()
