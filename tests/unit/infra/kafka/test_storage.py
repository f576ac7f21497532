"""The folder of a broker: its settings, and who has it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from infra.errors import MissingError
from infra.kafka import BrokerFailedError, keep_loaded, wanted
from infra.kafka.ports import Ports
from infra.kafka.storage import ARCHIVE, claimed, command, note_owner, properties

SETTINGS = dict(line.split("=", 1) for line in properties(Ports(20_100, 20_101)).splitlines())


def test_it_listens_on_this_machine_only() -> None:
    assert SETTINGS["listeners"] == "PLAINTEXT://127.0.0.1:20100,CONTROLLER://127.0.0.1:20101"
    assert SETTINGS["advertised.listeners"] == "PLAINTEXT://127.0.0.1:20100"
    assert SETTINGS["controller.quorum.voters"] == "1@127.0.0.1:20101"


def test_one_node_is_enough_for_every_internal_topic() -> None:
    counts = {name: value for name, value in SETTINGS.items() if name.endswith(("replication.factor", "min.isr"))}
    assert len(counts) == 5
    assert set(counts.values()) == {"1"}


def test_topics_are_made_by_us_alone_and_the_largest_record_fits() -> None:
    largest = max(int(topic.settings["max.message.bytes"]) for topic in wanted(replication=1))
    assert SETTINGS["auto.create.topics.enable"] == "false"
    assert int(SETTINGS["message.max.bytes"]) >= largest


def test_a_claim_is_refused_to_others_while_whoever_inherited_it_lives(tmp_path: Path) -> None:
    with claimed(tmp_path) as lock:
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=(lock,))
        note_owner(lock, child.pid)
    with pytest.raises(BrokerFailedError, match=rf"already \(process {child.pid}\)"), claimed(tmp_path):
        pytest.fail("the child has it")
    child.communicate(b"\n", timeout=60)
    with claimed(tmp_path) as lock:
        note_owner(lock, os.getpid())


def test_a_folder_that_cannot_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(MissingError, match=r"cannot be in .*file/broker"), claimed(tmp_path / "file" / "broker"):
        pytest.fail("there is no such folder")


def test_what_java_loaded_before_is_taken_only_where_it_is_kept(tmp_path: Path) -> None:
    assert not [option for option in command(tmp_path, "kafka.Kafka") if "Archive" in option]
    (tmp_path / ARCHIVE).touch()
    assert f"-XX:SharedArchiveFile={tmp_path / ARCHIVE}" in command(tmp_path, "kafka.Kafka")


def test_what_is_kept_is_not_made_again(tmp_path: Path) -> None:
    (tmp_path / ARCHIVE).write_bytes(b"kept")
    keep_loaded(tmp_path)  # there are no jars to start a broker from
    assert (tmp_path / ARCHIVE).read_bytes() == b"kept"
    assert [path.name for path in tmp_path.iterdir()] == [ARCHIVE]


def test_what_cannot_be_started_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(BrokerFailedError):
        keep_loaded(tmp_path)
    assert not list(tmp_path.iterdir())
