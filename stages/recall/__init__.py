"""The read side: evidence for a question (AdaMem 3.3) and the bundle before an answer (ArborMem, stage 2)."""

from stages.recall.recall import Recall, Standing

__all__ = ["Recall", "Standing"]
