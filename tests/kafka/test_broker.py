"""A broker of our own: it starts, answers, keeps its data through crashes, and says why it does not run."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition

from infra.errors import MissingError
from infra.kafka import Broker, BrokerFailedError
from infra.kafka.ports import HOST, is_free
from infra.kafka.ready import serves, speaks
from infra.kafka.storage import ARCHIVE, DATA, PROPERTIES, claimed, cluster_id

ROOT = Path(__file__).resolve().parents[2]
TEXTS = [f"line {number}".encode() for number in range(100)]


def test_it_answers_as_the_cluster_of_its_folder(lone: Broker) -> None:
    assert lone.bootstrap == f"{HOST}:{lone.ports.broker}"
    assert speaks(lone.ports.broker)
    assert serves(lone.ports.broker, cluster_id(lone.folder))
    assert not serves(lone.ports.broker, "another cluster")


@pytest.mark.skipif(sys.platform != "linux", reason="the sockets of a process are read from /proc")
def test_nothing_listens_on_another_interface(lone: Broker) -> None:
    assert lone.pid is not None
    assert set(listening(lone.pid)) == {(HOST, lone.ports.broker), (HOST, lone.ports.controller)}


@pytest.mark.skipif(sys.platform != "linux", reason="what a process maps is read from /proc")
def test_java_takes_what_it_loaded_before_as_it_was_kept(lone: Broker) -> None:
    assert str(lone.libs / ARCHIVE) in Path(f"/proc/{lone.pid}/maps").read_text()


def listening(pid: int) -> Iterator[tuple[str, int]]:
    """Give address and port of each TCP socket on which a process listens."""
    links = [str(path.readlink()) for path in Path(f"/proc/{pid}/fd").iterdir() if path.is_symlink()]
    mine = {link.removeprefix("socket:[").rstrip("]") for link in links if link.startswith("socket:[")}
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in mine:  # listening
                address, port = fields[1].split(":")
                yield spelled(bytes.fromhex(address)), int(port, 16)


def spelled(words: bytes) -> str:
    """Write an address of /proc, whose 32-bit words are in the machine's order; a mapped IPv4 one as IPv4."""
    address = b"".join(words[at : at + 4][::-1] for at in range(0, len(words), 4))
    mapped = address.removeprefix(bytes(10) + b"\xff\xff")
    return socket.inet_ntop(socket.AF_INET if len(mapped) == 4 else socket.AF_INET6, mapped)


def test_a_killed_broker_starts_again_with_all_that_it_acknowledged(lone: Broker) -> None:
    before = lone.pid
    written(lone)
    lone.kill()
    assert lone.pid is None
    assert not speaks(lone.ports.broker)
    lone.stop()  # nothing to stop
    lone.start()
    assert lone.pid != before
    assert read_back(lone) == TEXTS


def written(broker: Broker) -> None:
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap) as admin:
        admin.create_topics({"kept": {"num_partitions": 1, "replication_factor": 1}}, wait_for_metadata=True)
    with KafkaProducer(bootstrap_servers=broker.bootstrap, acks="all") as producer:
        for sent in [producer.send("kept", text) for text in TEXTS]:
            sent.get(timeout=30)


def read_back(broker: Broker) -> list[bytes]:
    partition = TopicPartition("kept", 0)
    with KafkaConsumer(bootstrap_servers=broker.bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign([partition])
        end = consumer.end_offsets([partition])[partition]
        found: list[bytes] = []
        while consumer.position(partition) < end:
            found += [record.value for record in consumer.poll(timeout_ms=500).get(partition, [])]
    return found


def test_a_running_broker_is_not_started_twice(lone: Broker) -> None:
    with pytest.raises(RuntimeError, match="runs already"):
        lone.start()
    assert speaks(lone.ports.broker)


def test_a_folder_has_one_broker_and_the_second_harms_nothing(lone: Broker) -> None:
    properties = (lone.folder / PROPERTIES).read_bytes()
    with pytest.raises(BrokerFailedError, match=rf"runs in .* already \(process {lone.pid}\)"):
        Broker.at(lone.folder, lone.libs, quick=True)
    assert (lone.folder / PROPERTIES).read_bytes() == properties
    assert serves(lone.ports.broker, cluster_id(lone.folder))


def test_what_kafka_says_when_it_does_not_start_is_told(lone: Broker, tmp_path: Path) -> None:
    (tmp_path / DATA).mkdir()
    (tmp_path / DATA / "meta.properties").write_text("version=1\ncluster.id=x\nnode.id=7\n")
    with pytest.raises(BrokerFailedError, match=r"exit code 1 before it answered(?s:.*)Stored node id 7"):
        Broker.at(tmp_path, lone.libs, quick=True)


def test_a_port_in_use_is_named(libs: Path, tmp_path: Path) -> None:
    with socket.create_server((HOST, 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(BrokerFailedError, match=rf"port {port} on 127\.0\.0\.1.*--port"):
            Broker.at(tmp_path, libs, port)
    assert not (tmp_path / DATA).exists()


def test_jars_that_are_none_are_told_with_what_java_said(tmp_path: Path) -> None:
    with pytest.raises(BrokerFailedError, match=r"could not format(?s:.*)StorageTool"):
        Broker.at(tmp_path / "broker", tmp_path / "no jars")


def test_without_java_the_way_out_is_named(libs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingError, match=r"Java \(java\) is not on the PATH.*ANABRANCH_KAFKA"):
        Broker.at(tmp_path, libs)


UP = """
import sys
import typer
from infra.cli import kafka
from infra.cli.session import Session
app = typer.Typer()
kafka.register(app)
app.callback()(lambda: None)
app(sys.argv[1:], obj=Session())
"""


def test_the_command_runs_a_broker_until_it_is_told_to_stop_and_leaves_nothing_running(
    libs: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", UP, "kafka", "up", "--folder", str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        servers = said.strip().rpartition("ANABRANCH_KAFKA=")[2]
        port = int(servers.removeprefix(f"{HOST}:"))
        answered = speaks(port)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    assert said == f"Kafka runs on {servers}: export ANABRANCH_KAFKA={servers}\n"
    assert answered
    assert (process.returncode, out) == (0, "")
    assert "Kafka is stopped" in err
    assert is_free(port)
    with claimed(tmp_path):  # nobody has the folder any more
        assert (tmp_path / DATA).is_dir()


def test_the_programs_of_the_tests_are_there() -> None:
    assert shutil.which("java")
    assert shutil.which("mvn")
