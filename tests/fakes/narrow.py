"""A small window W for tests that have to go far beyond it."""

from __future__ import annotations

import sys

import pytest

from stages import shown
from stages.route import working

SMALL = 12
"""W for such tests."""


def set_window(patch: pytest.MonkeyPatch, window: int) -> None:
    """Let W be ``window`` wherever it is known: short dialogues then read memory as long ones do."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in {"stages", "streams"} and hasattr(module, "WINDOW"):
            patch.setattr(module, "WINDOW", window)


def narrow(patch: pytest.MonkeyPatch) -> None:
    """Let W be ``SMALL`` wherever it is known, windows be shown of as few turns, and messages leave early."""
    set_window(patch, SMALL)
    patch.setattr(working, "CAPACITY", 7)
    patch.setattr(shown, "TURNS", SMALL)
