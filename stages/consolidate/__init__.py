"""consolidate: what a night makes of a space's memory (AutoViewMem 3.2, AdaMem B.4). It decides; nothing is written."""

from stages.consolidate.limits import Limits, limits_of
from stages.consolidate.plan import Apart, Live, Plan, live
from stages.consolidate.proposing import closeness
from stages.consolidate.stage import Consolidate
from stages.consolidate.undoing import NoNight, TakenUp, UnknownRun, undone

__all__ = [
    "Apart",
    "Consolidate",
    "Limits",
    "Live",
    "NoNight",
    "Plan",
    "TakenUp",
    "UnknownRun",
    "closeness",
    "limits_of",
    "live",
    "undone",
]
