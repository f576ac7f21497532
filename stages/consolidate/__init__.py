"""consolidate: what a night makes of a space's memory (AutoViewMem 3.2, AdaMem B.4). It decides; nothing is written."""

from stages.consolidate.plan import Apart, Live, Plan, live

__all__ = ["Apart", "Live", "Plan", "live"]
