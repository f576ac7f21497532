"""What a client has written last."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

_TOKENS: Final = 10_000
"""Spaces whose last token a client keeps (about 2 MB)."""


@dataclass
class Tokens:
    """The last token of each space written to; of many spaces, those written to last. Safe between threads."""

    _kept: OrderedDict[str, str] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def keep(self, space: str, token: str) -> None:
        """Keep a token."""
        with self._lock:
            self._kept[space] = token
            self._kept.move_to_end(space)
            if len(self._kept) > _TOKENS:
                self._kept.popitem(last=False)

    def get(self, space: str) -> str | None:
        """Return the last token of a space."""
        with self._lock:
            return self._kept.get(space)
