"""The row that the state keeps of an item, whoever made it."""

from __future__ import annotations

from stages.packed import Packed

KEPT_BYTES = 400
"""Bytes of a turn's item rows as they are stored (the contract allows 500 a turn in all)."""

TEXT_BYTES = 100
"""Bytes of an item's text that are kept where only its words can be compared."""

KEPT_VECTORS = 4
"""Vectors kept of a turn: of items that are compared by their words."""


class KeptItem(Packed):
    """An item record of a recent turn: enough to find it by its key, and, where there was room, to compare it.

    ``flags`` holds kind, attitude and what else is a yes or no (``stages.route.kept``), ``digest`` stands for the text,
    ``about`` for the key. The fields behind are there only where the item can be compared by them: a value, an object,
    or else the words of its text. Times are Unix seconds, 0 where there are none.
    """

    ordinal: int
    flags: int
    digest: str
    about: str
    attribute: str = ""
    subject: str = ""
    value: str = ""
    object: str = ""
    start: int = 0
    end: int = 0
    text: str = ""
