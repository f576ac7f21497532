"""About how many tokens a text costs, whoever's they are: what budgets of bundles and of evidence count in."""

from __future__ import annotations

from typing import Final

_BYTES_A_TOKEN: Final = 4
"""UTF-8 bytes that a token stands for, on average of common tokenizers and languages; a little high for CJK."""


def estimate(text: str) -> int:
    """Return about how many tokens ``text`` costs: a quarter of its UTF-8 bytes, rounded up."""
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_A_TOKEN)
