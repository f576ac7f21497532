"""Ways to break an invariant on purpose, kept as tests: a mutation is put in, and the check must then fail."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from schemas.memory import Row
from stages.contract import Emit

Install = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True)
class Mutation:
    """One fault: ``install`` puts it into the real code; ``caught`` is what the check says of it.

    ``by`` is another exception than that of the check where the product itself stops at the fault.
    """

    name: str
    install: Install
    caught: str
    by: type[BaseException] = AssertionError

    @contextmanager
    def put_in(self) -> Iterator[None]:
        """The code is broken inside the block, which must fail for the reason expected."""
        with pytest.MonkeyPatch.context() as patch:
            self.install(patch)
            with pytest.raises(self.by, match=re.escape(self.caught)):
                yield


def each(*mutations: Mutation) -> pytest.MarkDecorator:
    """Run a test for each mutation; the test's id says what is broken and what catches it."""
    return pytest.mark.parametrize("mutation", mutations, ids=[f"{one.name} => {one.caught}" for one in mutations])


def rewriting(stage: type[Any], change: Callable[[Any], Row]) -> Install:
    """Let a stage that emits rows emit ``change(row)`` for each; a record's vector goes with it."""
    decide = stage.decide

    async def decided(self: Any, message: Any, state: Any) -> Any:
        outcome = await decide(self, message, state)
        if not isinstance(outcome, Emit):
            return outcome
        rows = [(row, change(row)) for row in outcome.message.rows]
        names = {old.id: getattr(new, "id", "") for old, new in rows if old.row == "record"}
        vectors = [one.model_copy(update={"record_id": names[one.record_id]}) for one in outcome.message.vectors]
        changed = {"rows": tuple(new for _, new in rows), "vectors": tuple(vectors)}
        return Emit(outcome.message.model_copy(update=changed), outcome.state)

    return lambda patch: patch.setattr(stage, "decide", decided)
