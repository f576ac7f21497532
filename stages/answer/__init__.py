"""Answers that cite: a research agent and a working agent over recall (AdaMem 3.4, E.5, E.6).

``research`` plans, searches, takes notes and asks further, in two rounds at most; ``working`` writes the answer from
the notes, with what is known of the people beside it. Both see ``evidence``: numbered pieces within a budget of tokens,
as data. ``shapes`` says what the model is asked, ``ledger`` keeps what an answer has cost and the steps it took, and
``answerer`` is the whole: an answer whose citations were found, or the evidence and the reason why there is none.
"""

from stages.answer.answerer import Answerer
from stages.answer.evidence import Piece
from stages.answer.ledger import Ledger, Limits, OutOfTime
from stages.answer.shapes import PROMPTS, REPLY
from stages.answer.working import Material, written_by

__all__ = ["PROMPTS", "REPLY", "Answerer", "Ledger", "Limits", "Material", "OutOfTime", "Piece", "written_by"]
