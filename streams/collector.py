"""How often Python looks for cycles of garbage while events flow.

An event makes thousands of objects and hardly ever a cycle, so what the collector finds is not worth its looking: at
Python's own pace it took a tenth of the time of rules alone, and beside an encoder more, since each of its full rounds
walks through all that the libraries have loaded, for a tenth of a second in which no other thread runs.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

YOUNG: Final = 20_000
"""Objects that are made, and not let go of, before the collector looks among them."""


def settle() -> None:
    """Let the collector pass over what is here to stay, libraries and models, and look at the rest less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG)


@contextmanager
def seldom() -> Iterator[None]:
    """Let the collector look seldom while this lasts, unless the program lets it look even less."""
    before = gc.get_threshold()
    if 0 < before[0] < YOUNG:
        gc.set_threshold(YOUNG, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
