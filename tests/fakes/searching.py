"""The read side as the agents see it, on hits that a test gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from schemas.header import record_id
from schemas.memory import RecordKind, RecordRow
from schemas.recall import Hit, Question, Recalled
from schemas.space import Space
from schemas.turn import Speaker

AT = datetime(2026, 3, 1, 18, 22, tzinfo=UTC)
SPACE = Space("acme/mia")


def hit(turn_id: str, text: str, **more: Any) -> Hit:
    """Return a hit on a turn of Mia's."""
    plain: dict[str, Any] = {"kind": RecordKind.TURN, "turn_ids": (turn_id,), "speaker": "Mia", "at": AT}
    plain |= {"record_id": f"r-{turn_id}", "text": text, "score": 1.0, "why": {"dense": 1.0}}
    return Hit(**plain | more)


def row(kind: RecordKind, text: str, *turn_ids: str, **more: Any) -> RecordRow:
    """Return a record that sums up what Mia said in some turns."""
    plain: dict[str, Any] = {"owner": "u-42", "speaker": Speaker(id="u-42", name="Mia"), "at": AT, "since": 0}
    plain |= {"space": SPACE, "id": record_id(SPACE, 0, kind.value), "provenance": turn_ids, "text": text}
    return RecordRow(kind=kind, **plain | more)


def recalled(*hits: Hit, **more: Any) -> Recalled:
    """Return what a recall gives."""
    return Recalled(**{"id": None, "hits": hits, "stale": False, "behind": 0, "took_ms": 0.1} | more)


@dataclass
class Finds:
    """Implements ``Searching``: each question finds ``said``, or what ``by`` gives it; ``asked`` are the questions."""

    said: Recalled
    by: Callable[[str], Sequence[Hit]] | None = None
    rows: tuple[RecordRow, ...] = ()
    asked: list[Question] = field(default_factory=list)

    async def recall(self, space: Space, question: Question) -> Recalled:
        self.asked.append(question)
        return (
            self.said if self.by is None else self.said.model_copy(update={"hits": tuple(self.by(question.question))})
        )

    async def profile(self, space: Space, question: Question, limit: int) -> tuple[RecordRow, ...]:
        return self.rows[:limit]
