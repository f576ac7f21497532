"""Questions put to a ``Told`` memory, and turns that answer none of them."""

from __future__ import annotations

from typing import Any

from schemas.recall import Hit, Question
from stages.recall import Recall
from tests.fakes.told import BEN, MIA, Said, Told

FILLER = (
    "the tram was late again this morning",
    "somebody left an umbrella at the office",
    "rain is forecast for the coast",
    "the printer is out of toner",
    "lunch was soup with barley",
    "a parcel came for the neighbours",
)


def filler(first: int = 0, session: str = "s9", days: float = 0) -> list[Said]:
    return [
        Said(f"f{n}", BEN if n % 2 else MIA, text, days=days, session=session)
        for n, text in enumerate(FILLER, start=first)
    ]


async def hits(told: Told, question: str, **fields: Any) -> list[Hit]:
    asked = Question(question=question, **fields)
    return list((await Recall(told.index, told.embedder).recall(told.space, asked)).hits)


async def turns(told: Told, question: str, **fields: Any) -> list[str]:
    return [name for hit in await hits(told, question, **fields) for name in hit.turn_ids]
