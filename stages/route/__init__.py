"""route: what new evidence does to memory (AdaMem 3.2, B.3); leaves as rows."""

from stages.route.stage import Route
from stages.route.state import RouteState

__all__ = ["Route", "RouteState"]
