"""``commit``: completes and checks the rows of an event; the only writer of memory.

``stage`` refuses rows that do not hold together, adds the ``windows`` that a turn makes due (the ``state`` keeps the
texts of the last turns in the order of their places; ``stages.shown`` is the rule) and the outcome of the event, and
puts the turn's own records last: when a turn is there, all of it is.
"""

from stages.commit.stage import Commit
from stages.commit.state import CommitState

__all__ = ["Commit", "CommitState"]
