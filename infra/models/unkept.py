"""For models of the read side: what they say of a question is kept nowhere.

What stages are answered is kept for ever, since a replay must make the same memory of the same log. An answer to a
question is no part of memory: kept, it would grow with every question, outlive what it was read from (the space may be
forgotten), and be given again though memory has moved on.
"""

from __future__ import annotations

from schemas.model_result import ModelResult
from schemas.space import Space


class Unkept:
    """Implements ``streams.results.Results`` and keeps nothing."""

    async def get(self, _space: Space, _key: str) -> ModelResult | None:
        """Return nothing."""
        return None

    async def keep(self, _space: Space, _key: str, result: ModelResult) -> ModelResult:
        """Return the answer itself: it stands for this time."""
        return result
