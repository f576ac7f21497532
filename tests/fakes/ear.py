"""A flow that keeps what was extracted from each turn."""

from __future__ import annotations

from typing import Any

from schemas.extracted import Extracted, Item
from tests.fakes.flow import Flow


class Ear(Flow):
    """A flow that keeps what was extracted."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self.heard: list[Extracted] = []

    async def route(self, message: Any) -> Any:
        self.heard.append(message)
        return await super().route(message)

    async def items(self, text: str, **more: Any) -> tuple[Item, ...]:
        await self.say(text, **more)
        return self.heard[-1].items
