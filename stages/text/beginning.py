"""The beginning of a text that fits a number of bytes: states and path summaries are bounded in bytes."""

from __future__ import annotations


def beginning(text: str, most: int) -> str:
    """Return the beginning of ``text`` that takes at most ``most`` bytes of UTF-8, never half a character."""
    return text.encode()[:most].decode(errors="ignore")
