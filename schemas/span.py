"""A stretch of a text."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from schemas.base import Model


class Span(Model):
    """Characters ``[start, end)`` of a text, counted in code points.

    Raises:
        ValueError: if the span is empty or runs backwards.
    """

    start: int = Field(ge=0)
    end: int = Field(ge=1)

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if self.end <= self.start:
            msg = f"a span must not be empty: [{self.start}, {self.end})"
            raise ValueError(msg)
        return self

    def of(self, text: str) -> str:
        """Return the characters of ``text`` that this span covers."""
        return text[self.start : self.end]
