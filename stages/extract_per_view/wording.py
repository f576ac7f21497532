"""Words that a model chose, before they are kept: one line, no control characters, and something said in it."""

from __future__ import annotations

import unicodedata

from stages.text.tokens import content_tokens

_NO_TEXT = frozenset({"Cc", "Cs", "Co", "Cn"})
"""Controls, halves of characters, and what is no character: NUL is refused by indexes, the rest by nobody's eye."""

_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Overrides of direction, which make a line look like another one."""


def worded(text: str) -> str:
    """Return a model's words in one line: white space folded, nothing in them that nobody reads."""
    return " ".join("".join(map(_readable, text)).split())


def _readable(sign: str) -> str:
    if sign in _TURNING:
        return ""
    return " " if unicodedata.category(sign) in _NO_TEXT else sign


def says_something(text: str) -> bool:
    """Tell whether a text has a letter or a digit of any script."""
    return any(map(str.isalnum, text))


def tells(text: str) -> bool:
    """Tell whether a text has a word with content of its own: "He is it." has none."""
    return says_something(text) and bool(content_tokens(text))
