"""The bytes of a state's parts as they were last encoded: at a turn a cut, encoding took a fifth of the stages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import is_
from typing import TypeVar

Value = TypeVar("Value")


class Encoded:
    """Remembers the parts that were last cut from a state; those that hold the very same values are not encoded again.

    A state passes it on to the state that follows. What it returns depends on the values alone, since they are
    immutable: the same object always gives the same bytes. It keeps what the last cut has, and no more.
    """

    __slots__ = ("_last",)

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._last: Mapping[str, tuple[tuple[object, ...], bytes]] = {}

    def parts(
        self, values: Mapping[str, tuple[Value, ...]], encode: Callable[[tuple[Value, ...]], bytes]
    ) -> dict[str, bytes]:
        """Return the bytes of the values of each part."""
        found: dict[str, tuple[tuple[object, ...], bytes]] = {}
        for part, own in values.items():
            known = self._last.get(part)
            found[part] = known if known is not None and _same(known[0], own) else (own, encode(own))
        self._last = found
        return {part: data for part, (_values, data) in found.items()}


def _same(left: tuple[object, ...], right: tuple[object, ...]) -> bool:
    return len(left) == len(right) and all(map(is_, left, right))
