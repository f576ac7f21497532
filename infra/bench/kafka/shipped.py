"""The baseline of the runtime: Faust as shipped, with as many stages, the same load, on the same broker."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from infra.bench.kafka import starting
from infra.bench.kafka.follow import Chain
from infra.bench.kafka.load import Load
from infra.bench.kafka.phases import Course, Timed
from infra.bench.kafka.plant import Plant
from infra.bench.kafka.scaling import EvenLoad
from infra.bench.kafka.shipped_names import STAGES, changelog_of, group_of, ready_of, topic_of
from infra.kafka import Cluster, WantedTopic
from infra.kafka.topics import LOG_PARTITIONS
from infra.settings import child_environment

LEAST_RATIO: Final = 2.4
"""What the engine is to do of Faust's turns a second: 1,300 on the machine on which Faust as shipped had 540."""

PARTS: Final = 3
"""How many loads of half the size go by turns through both: smaller ones measure how a chain fills and empties."""

_WARM: Final = 2 * LOG_PARTITIONS
_LOOK_S: Final = 0.5
_START_S: Final = 180.0
"""Until all stages are ready; five processes start one after the other on two cores."""


async def beside_shipped(it: Plant, load: Load) -> list[tuple[Timed, Timed]]:
    """Run loads like this one by turns through a plant's own workers and through Faust as shipped, and return both.

    By turns, since a machine that others use too is not as fast all the time. Whoever waits takes little.
    """
    ours = Course(it.broker.bootstrap, it.edges)
    async with shipping(it.broker.bootstrap, it.folder, it.edges) as theirs:
        return [(await ours.go(part), await theirs.go(part)) for part in parts_of(load)]


def parts_of(load: Load) -> list[Load]:
    """Return what goes by turns, each of a tenant of its own."""
    turns = -(-load.turns // 2)
    return [replace(load, turns=turns, seed=load.seed + n, tenant=f"part{n}") for n in range(PARTS)]


@asynccontextmanager
async def shipping(bootstrap: str, folder: Path, edges: int) -> AsyncIterator[Course]:
    """Run the stages inside the block, each a process, on topics of their own with as many partitions as ours have.

    They are warm: every one is ready, and some turns of each partition went through all of them.

    Raises:
        TimeoutError: if one is not ready after three minutes, or those turns do not arrive.
    """
    counts = [LOG_PARTITIONS, *[edges] * STAGES]
    with Cluster.at(bootstrap) as cluster:
        cluster.apply(_topics(counts))
    running: list[starting.Process] = []
    try:
        for stage in range(1, STAGES + 1):
            given = (str(stage), bootstrap, str(folder), str(counts[stage - 1]))
            module = ["infra.bench.kafka.shipped_stage", *given]
            running.append(starting.start(module, child_environment({}), folder / f"{group_of(stage)}.log"))
        await _ready(folder)
        course = Course(bootstrap, edges, chain=Chain(topic_of(0), topic_of(STAGES), _ended))
        await course.go(EvenLoad(_WARM, _WARM, seed=0, tenant="warm"))
        yield course
    finally:
        starting.end(running)


def _topics(counts: list[int]) -> list[WantedTopic]:
    """Return what is written by the publisher and by each stage, and the changelog of each, beside its source."""
    written = [WantedTopic(topic_of(stage), count, 1, {}) for stage, count in enumerate(counts)]
    kept = {"cleanup.policy": "compact"}
    return written + [WantedTopic(changelog_of(stage), count, 1, kept) for stage, count in enumerate(counts[:-1], 1)]


def _ended(key: bytes, value: bytes) -> str:
    return f"{key.decode()} {json.loads(value)['turn_id']}"


async def _ready(folder: Path) -> None:
    said = [ready_of(folder, stage) for stage in range(1, STAGES + 1)]
    async with asyncio.timeout(_START_S):
        while not all(file.exists() for file in said):  # noqa: ASYNC110 - other processes start
            await asyncio.sleep(_LOOK_S)


def compared(pairs: Sequence[tuple[Timed, Timed]]) -> str:
    """Say in one line what the engine does of Faust's turns a second, over all parts and in each of them."""
    engine, shipped = (
        sum(len(one.latencies) for one in side) / sum(map(_took, side)) for side in zip(*pairs, strict=True)
    )
    each = ", ".join(f"{ours.rate / theirs.rate:.2f}" for ours, theirs in pairs)
    return (
        f"Faust as shipped, as many stages and a load alike, by turns: {shipped:.0f} turns/s, the engine {engine:.0f}; "
        f"ratio {engine / shipped:.2f} (at least {LEAST_RATIO}; in each turn {each})"
    )


def _took(one: Timed) -> float:
    return len(one.latencies) / one.rate
