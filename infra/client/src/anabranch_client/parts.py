"""Turns as they are sent, and what goes together in a request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from anabranch_client.turns import Turn, encode

MAX_TURNS: Final = 100
MAX_BYTES: Final = 512 * 1024
"""Of a request, where the caller sets no others: below what gateways take."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A turn as it is sent."""

    turn_id: str
    payload: bytes


def encoded(space: str, turn: Turn) -> Encoded:
    """Return a turn as it is sent."""
    return Encoded(turn.turn_id, encode(space, turn))


def parts(turns: Iterable[Encoded], max_turns: int = MAX_TURNS, max_bytes: int = MAX_BYTES) -> Iterator[list[Encoded]]:
    """Cut turns into what goes together in a request; a turn that is larger than all that goes alone."""
    part: list[Encoded] = []
    size = 0
    for one in turns:
        if part and (len(part) >= max_turns or size + len(one.payload) > max_bytes):
            yield part
            part, size = [], 0
        part.append(one)
        size += len(one.payload)
    if part:
        yield part


def halves(part: Sequence[Encoded]) -> tuple[Sequence[Encoded], Sequence[Encoded]]:
    """Cut turns into two, in their order."""
    middle = len(part) // 2
    return part[:middle], part[middle:]
