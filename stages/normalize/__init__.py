"""The first stage: a turn of the log, cleaned and understood; repeats and revisions known (mechanics, normalize)."""

from stages.normalize.stage import Normalize
from stages.normalize.state import NormalizeState

__all__ = ["Normalize", "NormalizeState"]
