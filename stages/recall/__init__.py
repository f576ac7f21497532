"""The read side: evidence for a question (AdaMem 3.3) and the bundle before an answer (ArborMem, stage 2).

``retrieve`` says what a question may see and runs its searches, dense and BM25. ``pool`` puts their scores on one
``scale`` and sums them by turn, the best record of each counting. ``plan`` says by a question's cues whether the typed
``graph`` is asked, and ``fusion`` adds what that reaches from the best turns and beside the facts that fit; ``bodies``
reads the records. ``rank`` adds what is known beside likeness: the people and times asked about (``asking``, ``fit``),
the branch resumed, and what is in ``working`` memory still; ``member`` raises what a question asks for by its number.
``hits`` puts what was changed under what replaced it (``changes``). For a turn that is not published ``path`` reads the
branch that it would continue, and ``bundle`` fits path and hits into a budget of tokens, with what consolidation made
of persons and topics (``profile``), which are no hits.
"""

from stages.recall.recall import Recall, Standing

__all__ = ["Recall", "Standing"]
