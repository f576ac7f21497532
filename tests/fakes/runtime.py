"""The embedded runtime over fake stages, with a place to die between any two effects."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from infra.models import HashEmbedder
from schemas.committed import Committed
from schemas.memory import row_key
from schemas.space import Space
from stages.commit import Commit
from streams.codec import canonical
from streams.embedded import Embedded
from streams.journal import Journal
from streams.patience import Patience
from streams.topology import Topology, build
from tests.fakes.stages import FakeExtract, FakeLocalize, FakeNormalize, FakeRoute


class Died(BaseException):
    """The process was killed: nothing may catch it."""


@dataclass
class MemoryIndex:
    """An index writer that keeps rows by key, as the index keeps points by id; outlives a "process"."""

    rows: dict[Space, dict[str, str]] = field(default_factory=dict)
    writes: int = 0

    async def write(self, space: Space, batch: Sequence[Committed]) -> None:
        self.writes += 1
        kept = self.rows.setdefault(space, {})
        for event in batch:
            kept.update({row_key(row): canonical(row) for row in event.rows})


def topology() -> Topology:
    embedder = HashEmbedder()
    return build(FakeNormalize(embedder), FakeLocalize(), FakeExtract(), FakeRoute(), Commit(embedder))


def event(space: str, turn_id: str, text: str = "hello there", **more: object) -> bytes:
    turn = {"space": space, "turn_id": turn_id, "speaker": {"id": "mia"}, "text": text, "at": "2026-03-01T18:00:00Z"}
    return json.dumps(turn | more).encode()


@dataclass
class Home:
    """A journal on disk and an index, opened again after each death."""

    path: Path
    index: MemoryIndex = field(default_factory=MemoryIndex)

    def publish(self, space: str, *bodies: bytes) -> None:
        journal = Journal(self.path)
        journal.append(Space(space), bodies)
        journal.close()

    async def run(self, runtime: type[Embedded] = Embedded) -> None:
        journal = Journal(self.path)
        try:
            await runtime(topology(), journal, self.index, Patience(tries=1)).run()
        finally:
            journal.close()

    def memory(self, space: str) -> list[str]:
        journal = Journal(self.path)
        try:
            return list(journal.memory(Space(space)))
        finally:
            journal.close()
