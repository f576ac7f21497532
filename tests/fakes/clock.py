"""Another clock, zone, environment and luck for the code under test: none of them may decide anything."""

from __future__ import annotations

import datetime as dt
import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any

import pytest

AHEAD = timedelta(days=10_000)
_ASKING = frozenset({"schemas", "stages", "streams", "infra", "dateparser", "dateutil", "tests"})
"""Packages whose modules see the other clock."""


class _Kind(type):
    """Every time is one of the moved clock's too, so that checks of types go on working."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.__mro__[1])


class Moved(datetime, metaclass=_Kind):
    """``datetime`` whose present is ``AHEAD`` of ours."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Any:
        return datetime.now(tz) + AHEAD

    @classmethod
    def today(cls) -> Any:
        return cls.now()

    @classmethod
    def utcnow(cls) -> Any:
        return cls.now(UTC).replace(tzinfo=None)


class MovedDate(date, metaclass=_Kind):
    """``date`` whose present is ``AHEAD`` of ours."""

    @classmethod
    def today(cls) -> Any:
        return Moved.now().date()


@contextmanager
def elsewhere() -> Iterator[None]:
    """Decades later, at the other end of the world, with other luck."""
    clock = time.time
    stand_ins = {datetime: Moved, date: MovedDate, clock: lambda: clock() + AHEAD.total_seconds()}
    with pytest.MonkeyPatch.context() as patch:
        for module in list(sys.modules.values()):
            if module.__name__.partition(".")[0] in _ASKING and module.__name__ != __name__:
                _replace(patch, module, stand_ins)
        for name in ("datetime", "date"):
            patch.setattr(dt, name, stand_ins[getattr(dt, name)])
        patch.setattr(time, "time", stand_ins[clock])
        patch.setenv("TZ", "Pacific/Kiritimati")
        patch.setenv("LANG", "tr_TR.UTF-8")
        time.tzset()
        random.seed(os.urandom(8))
        yield
    time.tzset()


def _replace(patch: pytest.MonkeyPatch, module: Any, stand_ins: dict[Any, Any]) -> None:
    for name, value in list(vars(module).items()):
        stand_in = next((other for known, other in stand_ins.items() if value is known), None)
        if stand_in is not None:
            patch.setattr(module, name, stand_in)
