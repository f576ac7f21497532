"""A whole installation on this machine in the production shape: broker, index server, one process a worker."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from infra.bench.kafka import starting
from infra.kafka import Broker, Cluster, bring, wanted
from infra.kafka.topics import LOG_PARTITIONS
from infra.qdrant.process import QdrantProcess
from infra.settings import cache_folder, child_environment
from infra.workers.child import Child
from streams.topology import FIRST, FLOW


@dataclass(slots=True)
class Plant:
    """Its parts, each of which can be started, killed, frozen and stopped. ``idle`` stages need no index server.

    ``call`` is how long (s) one of the idle stages waits for a model at each turn; ``edges`` is how many partitions
    each edge has.
    """

    folder: Path
    broker: Broker
    qdrant: QdrantProcess | None
    workers: dict[tuple[str, int], starting.Process] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    call: float = 0.0
    edges: int = LOG_PARTITIONS

    @property
    def partitions(self) -> dict[str, int]:
        """How many partitions each stage reads: the log's for the first, those of the edges for the others."""
        return {step.name: LOG_PARTITIONS if step is FIRST else self.edges for step in FLOW}

    @property
    def idle(self) -> bool:
        """Whether its stages do nothing."""
        return self.qdrant is None

    def start(self, stage: str, number: int) -> None:
        """Start a worker of a stage: the process itself, whose supervisor the plant is."""
        if self.idle:
            where = (self.broker.bootstrap, str(self.folder), str(self.call))
            module = ["infra.bench.kafka.idle_worker", stage, str(number), *where]
        else:
            module = ["infra.cli", "worker", stage, "--child", Child(number).told()]
        home = self.folder / f"{stage}-{number}"
        log = self.folder / f"{stage}-{number}.log"
        self.workers[stage, number] = starting.start(module, self._environment(home), log)

    def _environment(self, home: Path) -> dict[str, str]:
        given = {"ANABRANCH_HOME": str(home), "ANABRANCH_KAFKA": self.broker.bootstrap} | self.environment
        if self.qdrant is not None:
            at = self.qdrant.address
            given |= {"ANABRANCH_QDRANT_URL": at.url, "ANABRANCH_QDRANT_GRPC_PORT": str(at.grpc_port)}
        return child_environment(given)

    def kill(self, stage: str, number: int) -> None:
        """End a worker as a crash does."""
        self.workers[stage, number].kill()
        self.workers.pop((stage, number)).wait()

    def leave(self, stage: str, number: int) -> int:
        """Ask a worker to end, and return its exit code; one that does not end in time is killed."""
        process = self.workers.pop((stage, number))
        starting.end([process])
        return process.wait()

    def freeze(self, stage: str, number: int) -> None:
        """Stop a worker in mid-work."""
        self.workers[stage, number].send_signal(signal.SIGSTOP)

    def wake(self, stage: str, number: int) -> None:
        """Let a frozen worker go on."""
        self.workers[stage, number].send_signal(signal.SIGCONT)

    def revive(self) -> list[tuple[str, int, int]]:
        """Start again the workers that have ended, and return which with their exit codes."""
        ended = [(stage, number, process.poll()) for (stage, number), process in self.workers.items()]
        dead = [(stage, number, code) for stage, number, code in ended if code is not None]
        for stage, number, _ in dead:
            self.start(stage, number)
        return dead

    def close(self) -> None:
        """End all workers."""
        starting.end(self.workers.values())


@contextmanager
def plant(
    folder: Path,
    *,
    qdrant: Path | None,
    workers: dict[str, int],
    partitions: int = LOG_PARTITIONS,
    embedder: str = "hash",
    call: float = 0.0,
) -> Iterator[Plant]:
    """Give an installation in ``folder`` with its workers started; ``qdrant`` is the server's binary (none: idle)."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        broker = stack.enter_context(Broker.at(folder / "kafka", bring(cache_folder()), quick=True))
        with Cluster.at(broker.bootstrap) as cluster:
            cluster.apply(wanted(replication=1, partitions=partitions))
        server = None
        if qdrant is not None:
            (folder / "qdrant").mkdir(exist_ok=True)
            server = QdrantProcess(qdrant, folder / "qdrant")
            server.start()
            stack.callback(server.stop)
        environment = {"ANABRANCH_EMBEDDER": embedder}
        made = Plant(folder, broker, server, environment=environment, call=call, edges=partitions)
        stack.callback(made.close)
        for step in FLOW:
            for number in range(workers.get(step.name, 1)):
                made.start(step.name, number)
        yield made
