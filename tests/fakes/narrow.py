"""A small window W for tests that have to go far beyond it."""

from __future__ import annotations

import sys

import pytest

from stages import shown
from stages.contract import WINDOW
from stages.route import working

SMALL = 12
"""W for such tests."""


def narrow(patch: pytest.MonkeyPatch) -> None:
    """Let W be ``SMALL`` wherever it is known, windows be shown of as few turns, and messages leave early."""
    for module in list(sys.modules.values()):
        if module.__name__.startswith(("stages", "streams")) and vars(module).get("WINDOW") == WINDOW:
            patch.setattr(module, "WINDOW", SMALL)
    patch.setattr(working, "CAPACITY", 7)
    patch.setattr(shown, "TURNS", SMALL)
