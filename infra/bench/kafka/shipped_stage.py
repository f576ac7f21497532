"""A stage as Faust's documentation has one: ``python -m infra.bench.kafka.shipped_stage STAGE BOOTSTRAP FOLDER COUNT``.

STAGE is 1 to 5, COUNT how many partitions its source has. Nothing of the engine is in it: Faust reads, decodes and
encodes JSON, keeps how many turns each space had in a table with its changelog, produces, and commits offsets.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from pathlib import Path
from typing import Any

import faust

from infra.bench.kafka.shipped_names import group_of, ready_of, topic_of
from infra.workers import leash, loop


def app_of(stage: int, bootstrap: str, folder: Path, partitions: int) -> faust.App:
    """Return the application of a stage. Everything that is not set here is as Faust has it."""
    app = faust.App(
        group_of(stage),
        broker=f"aiokafka://{bootstrap}",
        datadir=str(folder / group_of(stage)),  # as shipped it is made where the process was started
        topic_partitions=partitions,  # a table must have as many as the topic that it counts
        web_enabled=False,  # as shipped each would listen on the same port of all interfaces
    )
    source, target = (app.topic(topic_of(number), key_type=str) for number in (stage - 1, stage))
    counts = app.Table("counts", default=int)

    async def count(stream: Any) -> None:  # noqa: ANN401 - Faust's own
        async for space, turn in stream.items():
            counts[space] += 1
            turn["counts"] = [*turn.get("counts", ()), counts[space]]
            await target.send(key=space, value=turn)

    async def ready() -> None:  # Faust runs tasks when its tables are there
        await asyncio.to_thread(ready_of(folder, stage).touch)

    app.agent(source, name=group_of(stage))(count)
    app.task(ready)
    return app


def main(stage: int, bootstrap: str, folder: Path, partitions: int) -> None:
    """Run a stage as ``faust worker`` does, on the event loop of our workers, until SIGTERM."""
    logging.disable(logging.INFO)  # Faust would make a debug record of every message, and show none
    leash.hold(sys.stdin.fileno())
    loop.use()
    faust.Worker(app_of(stage, bootstrap, folder, partitions), loglevel="WARN").execute_from_commandline()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
