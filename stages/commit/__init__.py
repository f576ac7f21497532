"""commit: validates and completes the rows of an event; the only writer of memory."""

from stages.commit.stage import Commit
from stages.commit.state import CommitState

__all__ = ["Commit", "CommitState"]
