"""Runs that are disturbed: odd sizes of batches and cuts, records that come again, death between any two effects."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from random import Random
from typing import Any

import pytest

from schemas.committed import Committed
from schemas.space import Space
from stages.ports import IndexWriter
from streams import embedded, engine
from streams.effects import Inbound
from streams.engine import Engine
from streams.records import Records
from streams.tables import Tables
from tests.fakes.narrow import set_window
from tests.fakes.runtime import Died


@dataclass(frozen=True)
class Way:
    """How a run goes. It dies of ``error`` at step ``dies`` (``None``: it lives); a step lies on either side of every
    write. With ``repeats``, a seed, later stages get records again and miss others."""

    cut: int = engine.CUT
    lookahead: int = embedded.LOOKAHEAD
    lanes: int = embedded.LANES
    repeats: int | None = None
    dies: int | None = None
    error: type[BaseException] = Died


CALM = Way()


@dataclass
class Fate:
    """Counts the steps of a run, and ends it. ``last_words`` is called at the moment of death."""

    at: int | None = None
    error: type[BaseException] = Died
    last_words: Callable[[], None] = lambda: None
    steps: int = 0
    is_dead: bool = False

    def step(self) -> None:
        if self.is_dead:
            raise self.error  # the dead do nothing more, whatever their tasks still try
        self.steps += 1
        if self.steps == self.at:
            self.is_dead = True
            if self.error is Died:
                self.last_words()
            raise self.error

    def around(self, write: Callable[..., Any]) -> Callable[..., Any]:
        """Return ``write`` with a step on either side."""

        @wraps(write)
        def wrapped(*args: Any, **more: Any) -> Any:
            self.step()
            result = write(*args, **more)
            self.step()
            return result

        return wrapped

    def committing(self, transaction: Callable[..., Any]) -> Callable[..., Any]:
        """Return ``transaction`` with a step before it commits and one behind."""

        @contextmanager
        def wrapped(tables: Tables, *, synced: bool = False) -> Iterator[None]:
            with transaction(tables, synced=synced):
                yield
                self.step()
            self.step()

        return wrapped

    def befalls(self, patch: pytest.MonkeyPatch) -> None:
        """Lie in wait at everything that is written to the journal."""
        for name in ("write_records", "write_memory", "write_letters", "write_state", "write_offset"):
            patch.setattr(Records, name, self.around(getattr(Records, name)))
        patch.setattr(Tables, "transaction", self.committing(Tables.transaction))


@dataclass
class TornIndex:
    """Writes a batch in two goes, the second of which repeats the first; the process may die around each."""

    index: IndexWriter
    fate: Fate

    async def write(self, space: Space, batch: Sequence[Committed]) -> None:
        self.fate.step()
        await self.index.write(space, batch[: len(batch) // 2])
        self.fate.step()
        await self.index.write(space, batch)
        self.fate.step()


@dataclass
class Delivery:
    """Gives stages what they had before once more, and keeps from them what they must then read again themselves."""

    chance: Random
    given: dict[tuple[str, Space], list[Inbound]] = field(default_factory=dict)

    def mangled(self, stage: str, space: Space, records: Sequence[Inbound], *, is_first: bool) -> list[Inbound]:
        """Return ``records`` as a careless broker would bring them: the last of them comes for certain."""
        before = self.given.setdefault((stage, space), [])
        again = before[len(before) - self.chance.randint(0, min(len(before), 5)) :]
        missed = 0 if is_first else self.chance.randint(0, len(records) - 1)
        tail = records[len(records) - self.chance.randint(0, len(records)) :]
        before += records
        return [*again, *records[missed:], *tail]

    def befalls(self, patch: pytest.MonkeyPatch) -> None:
        """Get between the runtime and its engines."""
        patch.setattr(Engine, "advance", self._wrapped(Engine.advance))

    def _wrapped(self, advance: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
        async def wrapped(one: Engine[Any, Any, Any], space: Space, records: Sequence[Inbound]) -> None:
            await advance(one, space, self.mangled(one.node.name, space, records, is_first=one.is_first))

        return wrapped


@contextmanager
def small_window(window: int) -> Iterator[None]:
    """Let W be small inside."""
    with pytest.MonkeyPatch.context() as patch:
        set_window(patch, window)
        yield


@contextmanager
def disturbed(way: Way, fate: Fate) -> Iterator[None]:
    """Let runs inside go this way."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (engine, embedded):
            patch.setattr(module, "CUT", way.cut)
        patch.setattr(embedded, "LOOKAHEAD", way.lookahead)
        patch.setattr(embedded, "LANES", way.lanes)
        if way.repeats is not None:
            Delivery(Random(way.repeats)).befalls(patch)
        fate.befalls(patch)
        yield
