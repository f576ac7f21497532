"""A cluster's topics: what is there, and what is missing made."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import BrokerResponseError, KafkaError, TopicAlreadyExistsError, for_code

from infra.errors import MissingError, UsageError
from infra.kafka.differences import Differences, FoundTopic, difference
from infra.kafka.topics import WantedTopic

_REACH_MS: Final = 10_000
"""To find a broker: one that is up answers in milliseconds, one that starts in a few seconds."""
_SETTLE: Final = 30.0
"""Seconds until what was changed can be read back and every partition has a leader."""
_LOOK: Final = 0.1

_now = time.monotonic  # noqa: TID251 - how long to wait for a cluster is no event's time


@dataclass(frozen=True, slots=True)
class Applied:
    """What ``Cluster.apply`` did: topics it made, and settings it changed by topic."""

    created: tuple[str, ...]
    altered: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Cluster:
    """The topics of the cluster at ``bootstrap``. It touches no topic and no setting that is not named."""

    bootstrap: str
    _admin: Any

    @classmethod
    @contextmanager
    def at(cls, bootstrap: str) -> Iterator[Cluster]:
        """Connect until the block ends.

        Raises:
            MissingError: if no Kafka answers there, at once or later in the block, or it refuses what is asked.
            UsageError: if ``bootstrap`` is not written ``HOST:PORT,HOST:PORT``.
        """
        with _told(bootstrap):
            admin = _connect(bootstrap)
            try:
                yield cls(bootstrap, admin)
            finally:
                admin.close()

    def brokers(self) -> int:
        """Return how many brokers the cluster has, those that are down at the moment included."""
        return len(self._admin.describe_cluster()["brokers"])

    def names(self) -> list[str]:
        """Return the names of all topics."""
        return list(self._admin.list_topics())

    def sizes(self, topics: Iterable[str]) -> dict[str, int]:
        """Return the bytes on disk of those of the topics that are there: of each partition its largest copy."""
        there = set(self.names())
        wanted = [name for name in topics if name in there]
        copies = [
            (topic["name"], partition["partition_index"], partition["partition_size"])
            for broker in (self._admin.describe_log_dirs(wanted) if wanted else ())
            for folder in broker["log_dirs"]
            for topic in folder["topics"]
            for partition in topic["partitions"]
        ]
        largest: dict[tuple[str, int], int] = {}
        for name, number, size in copies:
            largest[name, number] = max(size, largest.get((name, number), 0))
        return {name: sum(size for (of, _), size in largest.items() if of == name) for name in wanted}

    def groups(self) -> list[str]:
        """Return the names of all consumer groups."""
        return [group["group_id"] for group in self._admin.list_groups()]

    def remove(self, topics: Iterable[str], groups: Iterable[str]) -> None:
        """Remove topics and consumer groups that are there; what they held is gone.

        Raises:
            MissingError: if the cluster refuses.
        """
        there = set(self.names())
        if doomed := [name for name in topics if name in there]:
            self._admin.delete_topics(doomed)
        known = set(self.groups())
        if left := [name for name in groups if name in known]:
            self._admin.delete_groups(left)

    def differences(self, wanted: Iterable[WantedTopic]) -> Differences:
        """Compare the cluster's topics with those wanted."""
        wants = tuple(wanted)
        return difference(wants, self.found(topic.name for topic in wants))

    def found(self, names: Iterable[str]) -> tuple[FoundTopic, ...]:
        """Return those of the named topics that exist, with all their settings."""
        there = {one["name"]: one for one in self._admin.describe_topics(list(names)) if not one["error_code"]}
        if not there:
            return ()
        resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in there]
        settings = self._admin.describe_configs(resources, config_filter="all")["topic"]
        return tuple(_found(one, settings[name]) for name, one in there.items())

    def apply(self, wanted: Iterable[WantedTopic]) -> Applied:
        """Make the topics that are missing, and put settings right; wait until it can be read back and used.

        Doing it again changes nothing, and several may do it at once.

        Raises:
            TopicsUnfitError: if a topic has other partitions or fewer copies than wanted; nothing is changed then.
            MissingError: if the cluster refuses, or does not do it in time.
        """
        wants = tuple(wanted)
        before = self.differences(wants)
        before.refuse_counts()
        created = self._create(before.missing)
        self._await_leaders(wants)
        after = self.differences(wants)  # a topic that another one made meanwhile may differ
        after.refuse_counts()
        self._alter(after)
        self._await_same(wants)
        return Applied(created, tuple((one.topic, one.name) for one in after.settings))

    def _create(self, topics: tuple[WantedTopic, ...]) -> tuple[str, ...]:
        if not topics:
            return ()
        answer = self._admin.create_topics({topic.name: _request(topic) for topic in topics}, raise_errors=False)
        codes = {one["name"]: (for_code(one["error_code"]), one["error_message"]) for one in answer["topics"]}
        for name, (error, message) in codes.items():
            if error.errno and error is not TopicAlreadyExistsError:
                raise MissingError(self._refused(f"make the topic {name}", f"{error.message}: {message}"))
        return tuple(name for name, (error, _) in codes.items() if not error.errno)

    def _alter(self, differences: Differences) -> None:
        changes: dict[str, dict[str, str]] = {}
        for one in differences.settings:
            changes.setdefault(one.topic, {})[one.name] = one.wanted
        if not changes:
            return
        resources = [ConfigResource(ConfigResourceType.TOPIC, name, values) for name, values in changes.items()]
        answer = self._admin.alter_configs(resources, incremental=True, raise_on_unknown=False)["topic"]
        for name, result in answer.items():
            if result != "OK":
                raise MissingError(self._refused(f"change settings of the topic {name}", result))

    def _refused(self, what: str, why: str) -> str:
        return f"Kafka at {self.bootstrap} refuses to {what} ({why}): see to its limits and rights, then apply again"

    def _await_leaders(self, topics: tuple[WantedTopic, ...]) -> None:
        self._admin.wait_for_topics([topic.name for topic in topics], timeout_ms=int(_SETTLE * 1000))

    def _await_same(self, wanted: tuple[WantedTopic, ...]) -> None:
        """Wait until a broker says what the controller was told."""
        deadline = _now() + _SETTLE
        while left := tuple(self.differences(wanted).rows()):
            if _now() > deadline:
                msg = (
                    f"Kafka at {self.bootstrap} took the changes, and {_SETTLE:.0f} s later lacks them: {left}; "
                    f"end other programs that set them, then apply again"
                )
                raise MissingError(msg)
            time.sleep(_LOOK)


def _connect(bootstrap: str) -> Any:  # noqa: ANN401 - the client has no types
    try:
        return KafkaAdminClient(
            bootstrap_servers=bootstrap,
            bootstrap_timeout_ms=_REACH_MS,
            reconnect_backoff_max_ms=1_000,  # one that starts is found soon
        )
    except ValueError as error:
        msg = f"{bootstrap!r} names no Kafka ({error}): write ANABRANCH_KAFKA like 127.0.0.1:9092"
        raise UsageError(msg) from error


@contextmanager
def _told(bootstrap: str) -> Iterator[None]:
    try:
        yield
    except BrokerResponseError as error:
        msg = f"Kafka at {bootstrap} refuses ({error}): see to its rights and its log, then try again"
        raise MissingError(msg) from error
    except KafkaError as error:
        way_out = "start one with `anabranch kafka up`, or correct ANABRANCH_KAFKA"
        msg = f"no Kafka answers at {bootstrap} ({error}): {way_out}"
        raise MissingError(msg) from error


def _found(topic: dict[str, Any], settings: dict[str, dict[str, Any]]) -> FoundTopic:
    partitions = topic["partitions"]
    values = {name: setting["value"] for name, setting in settings.items() if setting["value"] is not None}
    replicas = min((len(one["replica_nodes"]) for one in partitions), default=0)
    return FoundTopic(topic["name"], len(partitions), replicas, values)


def _request(topic: WantedTopic) -> dict[str, Any]:
    return {
        "num_partitions": topic.partitions,
        "replication_factor": topic.replication,
        "configs": dict(topic.settings),
    }
