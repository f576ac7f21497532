"""What the embedded mode makes of the same turns: memory, and the states of all stages."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from infra.bench.kafka.idle import idle_topology
from infra.bench.kafka.marks import MarksIndex
from infra.bench.kafka.states import BySpace, spelled
from infra.bootstrap import open_memory
from infra.home import LOG
from infra.settings import Settings
from schemas.memory import row_key
from schemas.space import Space
from streams.codec import canonical
from streams.embedded import Embedded
from streams.journal import Journal
from streams.patience import Patience
from streams.state import load
from streams.topology import FLOW


@dataclass(frozen=True, slots=True)
class Alike:
    """Each space's rows of memory by key, and its states by stage, as canonical bytes."""

    memory: BySpace
    states: BySpace


async def embedded(settings: Settings, events: Iterable[tuple[Space, bytes]], *, idle: bool) -> Alike:
    """Return what the embedded mode makes of events, with the real stages or with those that do nothing."""
    spaces: dict[Space, list[bytes]] = {}
    for space, body in events:
        spaces.setdefault(space, []).append(body)
    with tempfile.TemporaryDirectory(prefix="anabranch-") as folder:
        home = Path(folder)
        await (_idle(home, spaces) if idle else _real(settings.embedded(home), spaces))
        with closing(Journal(home / LOG)) as journal:
            return Alike(
                {space: {row_key(row): canonical(row).encode() for row in journal.rows(space)} for space in spaces},
                {
                    space: {step.name: spelled(load(journal.state(step.name, space))) for step in FLOW}
                    for space in spaces
                },
            )


async def _real(settings: Settings, spaces: Mapping[Space, list[bytes]]) -> None:
    async with open_memory(settings, wait=False) as memory:
        for space, bodies in spaces.items():
            await memory.publish(space, bodies)
        await memory.run()


async def _idle(home: Path, spaces: Mapping[Space, list[bytes]]) -> None:
    with closing(Journal(home / LOG)) as journal:
        for space, bodies in spaces.items():
            journal.append(space, bodies, own=False)
        await Embedded(idle_topology(), journal, MarksIndex(home / "marks.sqlite"), Patience()).run()


def unlike(ours: Mapping[str, Mapping[str, bytes]], others: Mapping[str, Mapping[str, bytes]]) -> int:
    """Return how many values differ, or are on one side only, in the others' spaces."""
    return sum(
        ours.get(space, {}).get(key) != values.get(key)
        for space, values in others.items()
        for key in ours.get(space, {}).keys() | values.keys()
    )
