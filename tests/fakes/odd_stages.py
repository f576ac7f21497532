"""The echo stages, and the real commit, with faults in them: texts that name a stage are refused by it or crash it."""

from __future__ import annotations

from typing import Any, ClassVar

from infra.models import HashEmbedder
from schemas.header import Skipped
from stages.commit import Commit
from stages.contract import Emit, Reject
from streams.topology import Topology, build
from tests.fakes.stages import FakeExtract, FakeLocalize, FakeNormalize, FakeRoute

REFUSED, CRASHES = "refused by ", "crashes "


class _Odd:
    name: ClassVar[str]

    async def decide(self, message: Any, state: Any) -> Any:
        outcome = await super().decide(message, state)  # type: ignore[misc]  # a stage stands behind it
        if not isinstance(outcome, Emit) or isinstance(message, Skipped):
            return outcome
        said = message.model_dump_json()
        if f"{REFUSED}{self.name}" in said:
            return Reject(f"{REFUSED}{self.name}")
        if f"{CRASHES}{self.name}" in said:
            raise ZeroDivisionError(self.name)
        return outcome


class OddNormalize(_Odd, FakeNormalize):
    """May refuse and crash."""


class OddLocalize(_Odd, FakeLocalize):
    """May refuse and crash."""


class OddExtract(_Odd, FakeExtract):
    """May refuse and crash."""


class OddRoute(_Odd, FakeRoute):
    """May refuse and crash."""


class OddCommit(_Odd, Commit):
    """May refuse and crash."""


def odd_topology() -> Topology:
    """Return the flow of the five."""
    embedder = HashEmbedder()
    return build(OddNormalize(embedder), OddLocalize(), OddExtract(), OddRoute(), OddCommit(embedder))
