"""The states of all stages, each in the one spelling that does not depend on who made it and what died on the way."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from infra.kafka.topics import LOG_PARTITIONS
from schemas.space import Space
from streams.kafka.log import Log
from streams.kafka.names import state_topic
from streams.kafka.states import States
from streams.state import EMPTY, Saved, StateRow, load
from streams.topology import FIRST, FLOW

BySpace = dict[str, dict[str, bytes]]
"""What each stage knows of a space: spaces, then stages."""

_LOOK_S: Final = 1.0
_TRIES: Final = 60
"""Looks until every stage has saved its last event: outcomes can be read a moment before states are."""


def spelled(saved: Saved) -> bytes:
    """Return a state as bytes, but for what no two runs share: offsets, and which cut wrote which part."""
    header = saved.header
    parts = {name: body.hex() for name, body in saved.parts.items()}
    counts = header.counts.model_dump()
    told = {"position": header.position, "counts": counts, "ids": header.ids, "parts": parts}
    return json.dumps(told, sort_keys=True).encode()


async def states_of(bootstrap: str, partitions: int, positions: Mapping[str, int]) -> BySpace:
    """Fold the state topics of all stages, as soon as each space's state has come to its last position there.

    After a minute they are taken as they are.
    """
    log = Log(bootstrap)
    found: BySpace = {}
    for step in FLOW:
        count = LOG_PARTITIONS if step is FIRST else partitions
        for space, saved in (await _settled(log, step.name, count, positions)).items():
            found.setdefault(space, {})[step.name] = spelled(saved)
    return found


async def _settled(log: Log, stage: str, partitions: int, positions: Mapping[str, int]) -> dict[str, Saved]:
    found: dict[str, Saved] = {}
    for _ in range(_TRIES):
        found = await _folded(log, stage, partitions, positions)
        if all(found[space].header.position >= last for space, last in positions.items()):
            break
        await asyncio.sleep(_LOOK_S)
    return found


async def _folded(log: Log, stage: str, partitions: int, spaces: Mapping[str, int]) -> dict[str, Saved]:
    with tempfile.TemporaryDirectory(prefix="anabranch-") as folder, closing(States(Path(folder) / stage)) as states:
        await states.fill(log.snapshot(state_topic(stage), partitions))
        return {space: _whole(await states.load(stage, Space(space))) for space in spaces}


def _whole(rows: list[StateRow]) -> Saved:
    """Return the state of these rows; one that cannot be put together is as good as none, and unlike any other."""
    try:
        return load(rows)
    except ValueError:
        return EMPTY
