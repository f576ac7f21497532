"""What states keep of texts and of ids that clients chose: bounded in bytes as they are stored, in any script."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from hashlib import blake2b

MAX_ID = 40
"""Bytes of a client's id that a state keeps; a longer one is kept as a digest: 256 characters may be 1 KB."""

UNDONE = "undo-"
"""What the name of a run begins with that takes another one back, and so the run of what it brought back."""

REVISED = "revision-"
"""What the run of a record begins with that a revision brought back: its position follows."""

_DIGEST = "~"
_ESCAPED = dict.fromkeys('"\\\n\r\t\b\f', 2)
_CONTROL = 6
"""Bytes of other control characters in JSON."""

_QUOTES = 2
_JSON = json.JSONEncoder(ensure_ascii=False)  # json.dumps makes one a call, which takes longer than the rest


def size(value: object) -> int:
    """Return the bytes that texts take as they are stored."""
    return len(_JSON.encode(value).encode())


def short(name: str) -> str:
    """Return an id as states keep it: itself, or a digest if it is long (or looks like one)."""
    data = name.encode()
    return name if len(data) <= MAX_ID and whole(name) else f"{_DIGEST}{blake2b(data, digest_size=12).hexdigest()}"


def text_hash(text: str) -> str:
    """Return what stands for a text, whatever its case and spacing (6 characters, 32 bits)."""
    return hashed(" ".join(text.casefold().split()), 4)


def hashed(text: str, size: int) -> str:
    """Return a digest of ``size`` bytes in letters that need no escape."""
    return urlsafe_b64encode(blake2b(text.encode(), digest_size=size).digest()).decode().rstrip("=")


def whole(name: str) -> bool:
    """Tell whether a kept id is the client's own and not a digest."""
    return not name.startswith(_DIGEST)


def clip(text: str, room: int) -> str:
    """Return the beginning of ``text`` that takes ``room`` bytes as it is stored, never half a character."""
    shown = text[:room]
    if size(shown) - _QUOTES <= room:  # as most have: to look at each character took a quarter of ``commit``
        return shown
    for at, letter in enumerate(shown):
        room -= _ESCAPED.get(letter, _CONTROL if letter < " " else len(letter.encode()))
        if room < 0:
            return text[:at]
    return shown
