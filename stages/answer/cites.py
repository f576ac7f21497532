"""Citations are held to what was shown: a model that invents one is told so once; what it still invents is dropped."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stages.answer.shapes import Notes, Reply

_NAMED = 5
"""Numbers that a fault names."""


@dataclass(slots=True)
class Cites:
    """Checks the tries at one request, so it remembers; ``refused`` counts what was invented in all of them."""

    shown: frozenset[int]
    refused: int = 0
    _is_told: bool = False

    def notes(self, notes: Notes) -> str | None:
        """Say what is wrong with notes: ``Request.check``."""
        return self._invented(notes.sources)

    def reply(self, reply: Reply) -> str | None:
        """Say what is wrong with an answer: ``Request.check``. One that rests on nothing that was shown is none."""
        if not reply.found:
            return None
        if not reply.answer.strip():
            return "`found` is true and `answer` is empty"
        fault = self._invented(reply.cites)
        if not self.shown.intersection(reply.cites):
            return fault or "`cites` names no piece of the evidence: an answer rests on one at least"
        return fault

    def _invented(self, numbers: Iterable[int]) -> str | None:
        invented = [number for number in dict.fromkeys(numbers) if number not in self.shown]
        self.refused += len(invented)
        if not invented or self._is_told:
            return None
        self._is_told = True
        return f"no piece of the evidence has the number {', '.join(map(str, invented[:_NAMED]))}"
