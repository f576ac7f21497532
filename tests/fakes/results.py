"""Answers of models kept in memory: ``Results`` in its smallest honest form."""

from __future__ import annotations

from dataclasses import dataclass, field

from schemas.model_result import ModelResult
from schemas.space import Space


@dataclass
class MemoryResults:
    kept: dict[tuple[Space, str], ModelResult] = field(default_factory=dict)

    async def get(self, space: Space, key: str) -> ModelResult | None:
        return self.kept.get((space, key))

    async def keep(self, space: Space, key: str, result: ModelResult) -> ModelResult:
        return self.kept.setdefault((space, key), result)
