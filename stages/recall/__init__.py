"""The read side: evidence for a question (AdaMem 3.3) and the bundle before an answer (ArborMem, stage 2).

``retrieve`` says what a question may see and runs its searches, dense and BM25. ``pool`` puts their scores on one
``scale`` and sums them by turn, the best record of each counting; ``bodies`` reads the records of the best. ``rank``
adds what is known beside likeness: the people and times asked about (``asking``, ``fit``), the branch resumed, and
what is in ``working`` memory still; ``member`` raises what a question asks for by its number. ``hits`` puts what was
changed under what replaced it (``changes``). For a turn that is not published ``path`` reads the branch that it would
continue, and ``bundle`` fits path and hits into a budget of tokens.
"""

from stages.recall.recall import Recall, Standing

__all__ = ["Recall", "Standing"]
