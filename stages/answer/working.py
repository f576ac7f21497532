"""The working agent: a concise answer from the notes, with evidence and what is known of the people beside (E.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.answer import Confidence, Step, StepKind
from schemas.recall import Question
from schemas.space import Space
from stages.answer.cites import Cites
from stages.answer.evidence import Piece
from stages.answer.ledger import Ledger, named, turns_of
from stages.answer.research import about
from stages.answer.shapes import REPLY
from stages.ports import LanguageModel, Request
from stages.prompts import as_data


@dataclass(frozen=True, slots=True)
class Material:
    """What an answer is written from: the question, pieces in the order of their use, and notes, if any were taken."""

    question: Question
    pieces: Sequence[Piece]
    notes: str = ""


@dataclass(frozen=True, slots=True)
class Written:
    """An answer with the pieces that it cites, one at least; ``answer`` is ``None`` where memory does not say it."""

    answer: str | None
    cited: tuple[Piece, ...] = ()
    inferred: bool = False
    confidence: Confidence = Confidence.LOW


async def written_by(language: LanguageModel, space: Space, material: Material, ledger: Ledger) -> Written | None:
    """Return what the model writes, or ``None`` if that is of no use. Citations of what it was not shown are dropped.

    Raises:
        OutOfTime: if the time is over.
        Unavailable: if the model does not answer.
    """
    fit = ledger.fit(material.pieces)
    cites = Cites(fit.numbers)
    data = as_data({**about(material.question), "notes": material.notes, "evidence": fit.data})
    try:
        reply = await ledger.ask(language, Request(space, REPLY, data, check=cites.reply), StepKind.ANSWER)
    finally:
        ledger.refused += cites.refused
    if reply is None:
        return None
    named_pieces = {piece.number: piece for piece in fit.pieces}
    cited = tuple(named_pieces[number] for number in dict.fromkeys(reply.cites) if number in named_pieces)
    written = Written(reply.answer.strip(), cited, reply.inferred, reply.confidence) if reply.found else Written(None)
    ledger.steps.append(_step(written))
    return written


def _step(written: Written) -> Step:
    outcome = "not in memory" if written.answer is None else "answered"
    turn_ids = turns_of(piece.turn_ids for piece in written.cited)
    return Step(step=StepKind.ANSWER, outcome=outcome, prompt=named(REPLY), turn_ids=turn_ids)
