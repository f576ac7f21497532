"""What the stage remembers of earlier turns: the window, the tips of branches, the people."""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

from stages.ring import PlacedModel


class Sign:
    """What the words of a turn show about its place in a conversation: bits of plain integers.

    Not an enum: scoring tests bits some thousand times a turn, and an enum's ``&`` takes ten times as long.
    """

    QUESTION: Final = 1 << 0
    GREETING: Final = 1 << 1
    THANKS: Final = 1 << 2
    ANSWER: Final = 1 << 3
    COMMAND: Final = 1 << 4
    LINK: Final = 1 << 5
    AGENT: Final = 1 << 6
    SYSTEM: Final = 1 << 7
    CLOSING: Final = 1 << 8
    ANAPHORA: Final = 1 << 9
    OPENING: Final = 1 << 10
    REQUEST: Final = 1 << 11
    POLAR: Final = 1 << 12
    ASKS_WHAT: Final = 1 << 13
    ASKS_WHEN: Final = 1 << 14
    ASKS_COUNT: Final = 1 << 15
    ASKS_WHERE: Final = 1 << 16
    TIME: Final = 1 << 17
    NUMBER: Final = 1 << 18
    ASSENT: Final = 1 << 19


class Node(PlacedModel):
    """A turn's place in the forest.

    ``person`` and ``opener`` (who opened its interaction) are keys of :func:`person_key`; ``at`` is in seconds
    since 1970; ``branch`` and ``interaction`` are the positions of the turns that opened them.
    """

    turn_id: str
    person: int
    at: int
    branch: int
    interaction: int
    opener: int
    depth: int = 0


class Seen(Node):
    """A turn of the window: its place, and what scoring needs of its words.

    ``session`` is a digest of the client's session (0: none), ``addressed`` and ``named`` are keys of people,
    ``tokens`` content stems, ``size`` the bytes of its JSON.
    """

    parent: int = -1
    session: int = 0
    signs: int = 0
    words: int = 0
    addressed: tuple[int, ...] = ()
    named: tuple[int, ...] = ()
    tokens: tuple[str, ...] = ()
    gist: str = ""
    size: int = 0


class Tip(Node):
    """The newest turn of a branch, with what the whole branch is about.

    ``title`` is the gist of the root, ``tokens`` the branch's content stems, the newest first.
    """

    session: int = 0
    signs: int = 0
    title: str = ""
    gist: str = ""
    tokens: tuple[str, ...] = ()
    size: int = 0


class Person(PlacedModel):
    """Somebody who spoke: ``key`` stays when they change their name; ``last`` is their newest turn."""

    key: int
    name: str
    last: Node
    size: int = 0


class Vector(PlacedModel):
    """The int8 vector of the turn at ``position``."""

    vector: bytes


def person_key(speaker_id: str) -> int:
    """Return a 48-bit digest of a speaker's id: ids may be long, the window holds many."""
    return digest(speaker_id)


def digest(text: str) -> int:
    """Return 48 bits of BLAKE2b of ``text``; collisions among a few hundred are out of the question."""
    return int.from_bytes(blake2b(text.encode(), digest_size=6).digest(), "big")
