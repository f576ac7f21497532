"""A worker whose stage does nothing: ``python -m infra.bench.kafka.idle_worker STAGE NUMBER BOOTSTRAP FOLDER [CALL]``.

With CALL above 0 the stage that takes things out of turns waits so many seconds for a model at each.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path

from infra.bench.kafka.calling import calling_topology
from infra.bench.kafka.idle import idle_topology
from infra.bench.kafka.marks import MarksIndex
from infra.workers.loop import run
from infra.workers.plane import Plane
from infra.workers.run import Place, running, until_told
from streams.kafka.gate import IndexGate


async def main(stage: str, number: int, bootstrap: str, folder: Path, call: float = 0.0) -> None:
    """Run the worker until it is told to end."""
    index = MarksIndex(folder / "marks.sqlite")
    stages = calling_topology(call) if call else idle_topology()
    plane = Plane(stages, index, IndexGate(index))
    node = next(node for node in stages if node.name == stage)
    async with running(node, plane, Place(bootstrap, folder, folder / "crashes.sqlite", number)) as it:
        await until_told(it)


if __name__ == "__main__":
    logging.disable(logging.INFO)
    run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3], Path(sys.argv[4]), *map(float, sys.argv[5:])))
