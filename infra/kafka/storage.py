"""The folder of a broker: its settings, its logging, and the storage in it."""

from __future__ import annotations

import base64
import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from infra.errors import MissingError
from infra.kafka.errors import BrokerFailedError
from infra.kafka.java import java
from infra.kafka.ports import HOST, Ports

DATA: Final = "data"
PROPERTIES: Final = "server.properties"
LOGGING: Final = "log4j2.yaml"
ARCHIVE: Final = "loaded.jsa"
"""Beside the jars: what Java has loaded of them before, see ``archive``."""

_LOCK: Final = "lock"

QUICK: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""For a Java that lives for a minute or less: two thirds of the time and the processor to start."""

_PATIENCE: Final = 120.0
"""Seconds for formatting: 1.6 on two busy cores."""


def properties(ports: Ports) -> str:
    """Return the settings of one node that is broker and controller in one.

    Paths are relative to its folder, so that no character of the folder's own name has to be written in Java's way.
    """
    clients, controller = f"{HOST}:{ports.broker}", f"{HOST}:{ports.controller}"
    settings = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@{controller}",
        "listeners": f"PLAINTEXT://{clients},CONTROLLER://{controller}",
        "advertised.listeners": f"PLAINTEXT://{clients}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs": DATA,
        "auto.create.topics.enable": "false",  # topics are made by `anabranch topics apply`
        "log.message.timestamp.type": "LogAppendTime",  # with clients' old times, retention removes new records
        "message.max.bytes": str(64 * 1024 * 1024),  # the largest of any topic: letters
        "group.initial.rebalance.delay.ms": "0",  # nobody waits for members that are not there
        "min.insync.replicas": "1",
        **_alone("offsets.topic", "num.partitions"),
        **_alone("transaction.state.log", "num.partitions"),
        **_alone("share.coordinator.state.topic", "num.partitions"),
        # A broker that was killed is not let in again before its last session ends (9 s as shipped: 15 s for a start)
        "broker.session.timeout.ms": "3000",
        "broker.heartbeat.interval.ms": "500",
        # An index is a mapped file, empty to its end; the kernel reads it ahead (8 MB here), hundreds of them: with
        # 10 MB as shipped that was half of the broker's time. 0.5 MB are enough for segments of 128 MB.
        "log.segment.bytes": str(128 * 1024 * 1024),
        "log.index.size.max.bytes": str(512 * 1024),
        "log.cleaner.dedupe.buffer.size": str(32 * 1024 * 1024),  # of a heap of 512 MB; as shipped 128 MB
    }
    return "".join(f"{name}={value}\n" for name, value in settings.items())


def _alone(topic: str, partitions: str) -> dict[str, str]:
    """Return what lets an internal topic live on one node, with few partitions: as shipped each has 50."""
    isr = {} if topic == "offsets.topic" else {f"{topic}.min.isr": "1"}
    return {f"{topic}.replication.factor": "1", f"{topic}.{partitions}": "4", **isr}


@contextmanager
def claimed(folder: Path) -> Iterator[int]:
    """Claim the folder, made if it is not there, and give the lock's descriptor: who inherits it keeps the claim.

    Kafka's own lock comes too late: the controller of a second node has written to the metadata by then, and the first
    one answers no more (seen on 4.4).

    Raises:
        BrokerFailedError: if another broker has it.
        MissingError: if the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise _unusable(folder, error) from error
    try:
        _take(lock, folder)
        yield lock
    finally:
        os.close(lock)


def _take(lock: int, folder: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        owner = os.pread(lock, 64, 0).decode("ascii", "ignore").strip() or "unknown"
        msg = f"a Kafka broker runs in {folder} already (process {owner}): use it, end it, or name another folder"
        raise BrokerFailedError(msg) from error


def note_owner(lock: int, pid: int) -> None:
    """Write into a claim who has it."""
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{pid}\n".encode(), 0)


def prepare(folder: Path, libs: Path, ports: Ports) -> None:
    """Write the settings for ``ports`` into the folder, and format its storage if it is new.

    Raises:
        BrokerFailedError: if Kafka refuses to format it.
        MissingError: if the folder cannot be written, or there is no Java.
    """
    try:
        (folder / PROPERTIES).write_text(properties(ports), encoding="ascii")
        shutil.copyfile(Path(__file__).with_name(LOGGING), folder / LOGGING)
    except OSError as error:
        raise _unusable(folder, error) from error
    if not (folder / DATA / "meta.properties").is_file():
        _format(folder, libs)


def _unusable(folder: Path, error: OSError) -> MissingError:
    return MissingError(
        f"the Kafka broker cannot be in {folder} ({error.strerror}): make room for that folder, or name another"
    )


def _format(folder: Path, libs: Path) -> None:
    tool = command(libs, "kafka.tools.StorageTool", *QUICK)
    arguments = ["format", "--ignore-formatted", "--cluster-id", _new_id(), "--config", PROPERTIES]
    done = subprocess.run(  # noqa: S603 - Java from the PATH
        [*tool, *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=_PATIENCE
    )
    if done.returncode != 0:
        msg = f"Kafka could not format its storage in {folder}: move the folder away\n{done.stdout}{done.stderr}"
        raise BrokerFailedError(msg)


def command(libs: Path, main: str, *options: str) -> list[str]:
    """Return the beginning of a command that runs a main class of the jars, in a broker's folder.

    Raises:
        MissingError: if there is no Java.
    """
    kept = [f"-XX:SharedArchiveFile={archive}"] if (archive := libs / ARCHIVE).exists() else []
    return [java(), *kept, *options, f"-Dlog4j2.configurationFile={LOGGING}", "-cp", f"{libs}/*", main]


def cluster_id(folder: Path) -> str:
    """Return the id that the storage was formatted with."""
    lines = (folder / DATA / "meta.properties").read_text(encoding="latin-1").splitlines()
    return next(line.removeprefix("cluster.id=") for line in lines if line.startswith("cluster.id="))


def _new_id() -> str:
    """Return a new cluster's id: 16 bytes, the first below 128 so that it does not begin with a dash like an option."""
    token = os.urandom(16)
    return base64.urlsafe_b64encode(bytes([token[0] & 0x7F]) + token[1:]).decode().rstrip("=")
