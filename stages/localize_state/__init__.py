"""``localize_state``: which earlier interaction state a turn resumes (ArborMem)."""

from stages.localize_state.forest import Forest
from stages.localize_state.stage import LocalizeState

__all__ = ["Forest", "LocalizeState"]
