"""Times as answers want them: written out, so that a model copies a date in place of working one out."""

from __future__ import annotations

from datetime import datetime
from typing import Final

_DAYS: Final = "Mon Tue Wed Thu Fri Sat Sun".split()
_MONTHS: Final = "January February March April May June July August September October November December".split()


def written(at: datetime) -> str:
    """Return a time in its own zone, as ``Sun 1 March 2026, 18:22``; no locale has a say in it."""
    return f"{_DAYS[at.weekday()]} {at.day} {_MONTHS[at.month - 1]} {at.year}, {at:%H:%M}"
