"""Lines that say again what somebody said: they are nobody's new statement (fault 1).

Bots put recalled memory before a model, and models say it back; people paste a stretch of a chat. "- Mia: I live in
Oslo" in an agent's turn is Mia's old statement, not that the agent lives there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache

_BULLET = r"(?:[-*\u2022\u2013>]+[ \t]*|\d{1,3}[.)][ \t]+)"
_QUOTE = re.compile(r"^[ \t]*>+[ \t].*", re.MULTILINE)
"""A quotation as mail and Markdown mark it; ">:(" is none."""


def quotations(text: str, people: Collection[str]) -> list[tuple[int, int]]:
    """Return the bounds of the lines of ``text`` that quote: marked by ``>``, or written "Name: …" of these people.

    At the beginning of a turn "Name: …" without a bullet speaks to somebody, as it does in channels.
    """
    found = [match.span() for match in _QUOTE.finditer(text)] if ">" in text else []
    names = tuple(sorted(name for name in people if name))
    if names and ":" in text:
        found += [match.span() for match in _transcript(names).finditer(text)]
    return found


@lru_cache(maxsize=256)
def _transcript(names: Sequence[str]) -> re.Pattern[str]:
    """Return the pattern of a line "Name: …", with a time in brackets behind the name or not."""
    name = "|".join(map(re.escape, names))
    time = r"(?:[ \t]*[(\[][^)\]\n]{0,40}[)\]])?"
    return re.compile(rf"^(?:[ \t]*{_BULLET}|(?!\A)[ \t]*)(?:{name}){time}:[ \t].*", re.MULTILINE)
