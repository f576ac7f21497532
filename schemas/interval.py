"""Time as intervals: what a temporal expression stands for."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from pydantic import AwareDatetime, model_validator

from schemas.base import Model
from schemas.span import Span


class Grain(StrEnum):
    """The unit a temporal expression speaks in, finest first."""

    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    SEASON = "season"
    YEAR = "year"


class Interval(Model):
    """A half-open stretch of time ``[start, end)`` with the grain it was spoken in.

    ``vague`` marks edges that the speaker left open ("a few days ago", "since 2016"). ``end`` of an
    expression that is still going on ("since 2016") is the end of the turn's own day.

    Raises:
        ValueError: if ``end`` is not after ``start``.
    """

    start: AwareDatetime
    end: AwareDatetime
    grain: Grain
    vague: bool = False

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.end <= self.start:
            msg = f"an interval must end after it starts: [{self.start}, {self.end})"
            raise ValueError(msg)
        return self


class TimeMention(Model):
    """A temporal expression of a text, where it stands, and the interval it resolves to."""

    phrase: str
    span: Span
    interval: Interval
