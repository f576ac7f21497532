"""A pattern that is searched only where one of its words stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_ANY_CASE = int(re.IGNORECASE)
"""As a plain number: to combine two flags of ``re`` costs more than looking for ten words."""


@dataclass(frozen=True, slots=True)
class Cued:
    """A pattern with the ``words`` of which every match holds one: to look for them takes 1 us, the pattern 10 to 25.

    The words of a pattern that ignores case are in small letters. It is searched in every text that is not ASCII, since
    there a long s or a dotless i passes for the letter.
    """

    pattern: re.Pattern[str]
    words: tuple[str, ...]

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first match in ``text``, as the pattern alone would find it."""
        return self.pattern.search(text) if self._may_match(text) else None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Return the matches in ``text``, as the pattern alone would find them."""
        return self.pattern.finditer(text) if self._may_match(text) else iter(())

    def _may_match(self, text: str) -> bool:
        any_case = self.pattern.flags & _ANY_CASE
        if any_case and not text.isascii():
            return True
        searched = text.lower() if any_case else text
        return any(word in searched for word in self.words)
