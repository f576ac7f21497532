"""Topics as code against a real cluster: made once, mended where they are ours, and nothing else touched."""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

import pytest
import typer
from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType
from typer.testing import CliRunner, Result

from infra.cli import topics
from infra.cli.session import Session
from infra.errors import MissingError, UsageError
from infra.kafka import Broker, Cluster, Differences, FoundTopic, TopicsUnfitError, WantedTopic, cluster, wanted
from infra.settings import Settings

GENERATIONS = itertools.count(1_000 * os.getpid() + 2)
"""Later topics of no other test, and of no other run on a cluster that stays."""


class Servers(Protocol):
    @property
    def bootstrap(self) -> str: ...


@pytest.fixture
def there(broker: Servers) -> Iterator[Cluster]:
    with Cluster.at(broker.bootstrap) as one:
        yield one


@pytest.fixture
def admin(broker: Servers) -> Iterator[KafkaAdminClient]:
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap) as one:
        yield one


@pytest.fixture
def own(there: Cluster, admin: KafkaAdminClient) -> Iterator[tuple[WantedTopic, ...]]:
    """Give the topics of a generation that is not there yet, and remove them afterwards."""
    generation = next(GENERATIONS)
    every = wanted(replication=min(3, there.brokers()), partitions=2, generation=generation)
    own = tuple(topic for topic in every if topic.name.endswith(f".g{generation}"))
    yield own
    left = {topic.name for topic in own} & set(admin.list_topics())
    if left:
        admin.delete_topics(sorted(left))


def test_applying_makes_what_is_missing_and_then_nothing(there: Cluster, own: tuple[WantedTopic, ...]) -> None:
    names = tuple(topic.name for topic in own)
    assert there.found(names) == ()
    assert there.differences(own).missing == own
    first = there.apply(own)
    assert (set(first.created), first.altered) == (set(names), ())
    assert not there.differences(own)
    again = there.apply(own)
    assert (again.created, again.altered) == ((), ())


def test_a_topic_made_is_as_wanted(there: Cluster, own: tuple[WantedTopic, ...]) -> None:
    there.apply(own)
    found = {topic.name: topic for topic in there.found(topic.name for topic in own)}
    for topic in own:
        one = found[topic.name]
        assert (one.partitions, one.replication) == (topic.partitions, topic.replication)
        assert topic.settings.items() <= one.settings.items()


def test_a_setting_that_was_changed_is_mended_and_one_that_is_not_ours_stays(
    there: Cluster, admin: KafkaAdminClient, own: tuple[WantedTopic, ...]
) -> None:
    there.apply(own)
    first, *_ = own
    changed(admin, first.name, {"retention.ms": "60000", "segment.ms": "3600000"})
    (one,) = awaited(there, own).settings
    assert (one.topic, one.name, one.wanted, one.found) == (first.name, "retention.ms", "2592000000", "60000")
    assert there.apply(own).altered == ((first.name, "retention.ms"),)
    (found,) = there.found([first.name])
    assert (found.settings["retention.ms"], found.settings["segment.ms"]) == ("2592000000", "3600000")


def changed(admin: KafkaAdminClient, topic: str, values: dict[str, str]) -> None:
    resource = ConfigResource(ConfigResourceType.TOPIC, topic, values)
    assert admin.alter_configs([resource], incremental=True)["topic"] == {topic: "OK"}


def awaited(there: Cluster, topics: tuple[WantedTopic, ...]) -> Differences:
    """Return what differs as soon as anything does: a broker hears of a change a moment after the controller."""
    return next(found for _ in range(10_000) if (found := there.differences(topics)))


def test_a_foreign_topic_is_left_alone(there: Cluster, admin: KafkaAdminClient, own: tuple[WantedTopic, ...]) -> None:
    name = f"foreign.g{next(GENERATIONS)}"
    admin.create_topics({name: {"num_partitions": 1, "replication_factor": 1}}, wait_for_metadata=True)
    changed(admin, name, {"retention.ms": "60000"})
    before = settled(there, name, "60000")
    there.apply(own)
    assert there.found([name]) == (before,)
    admin.delete_topics([name])


def settled(there: Cluster, name: str, retention: str) -> FoundTopic:
    tries = (there.found([name]) for _ in range(10_000))
    return next(found[0] for found in tries if found and found[0].settings["retention.ms"] == retention)


def test_too_few_partitions_are_refused_by_name_before_anything_is_changed(
    there: Cluster, admin: KafkaAdminClient, own: tuple[WantedTopic, ...]
) -> None:
    small = own[-1].name
    admin.create_topics({small: {"num_partitions": 1, "replication_factor": 1}}, wait_for_metadata=True)
    with pytest.raises(TopicsUnfitError, match=rf"^{small}: partitions 1, wanted 2: never changed"):
        there.apply(own)
    (found,) = there.found(topic.name for topic in own)
    assert (found.name, found.partitions) == (small, 1)


def test_two_may_apply_at_once(broker: Servers, own: tuple[WantedTopic, ...]) -> None:
    def apply() -> tuple[str, ...]:
        with Cluster.at(broker.bootstrap) as one:
            return one.apply(own).created

    with ThreadPoolExecutor(3) as pool:
        made = [*itertools.chain(*(each.result() for each in [pool.submit(apply) for _ in range(3)]))]
    assert sorted(made) == sorted(topic.name for topic in own)


def test_a_setting_that_kafka_refuses_is_told(there: Cluster, own: tuple[WantedTopic, ...]) -> None:
    first, *_ = own
    wrong = WantedTopic(first.name, 1, 1, {"cleanup.policy": "burn"})
    with pytest.raises(MissingError, match=rf"refuses to make the topic {first.name} .*burn"):
        there.apply([wrong])
    there.apply([first])
    wrong = WantedTopic(first.name, first.partitions, 1, {"cleanup.policy": "burn"})
    with pytest.raises(MissingError, match=rf"refuses to change settings of the topic {first.name} .*burn"):
        there.apply([wrong])


def test_where_no_kafka_is_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_REACH_MS", 300)
    with (
        pytest.raises(MissingError, match=r"no Kafka answers at 127\.0\.0\.1:1 .*anabranch kafka up"),
        Cluster.at("127.0.0.1:1"),
    ):
        pytest.fail("nobody listens there")


Cli = Callable[..., Result]


@pytest.fixture
def cli(lone: Broker, tmp_path: Path) -> Cli:
    """Give the commands for a cluster that has none of the topics: others may have used it before."""
    with Cluster.at(lone.bootstrap) as cluster:
        cluster.remove(every := [topic.name for topic in wanted(replication=1)], [])
        while not set(every).isdisjoint(cluster.names()):
            time.sleep(0.05)
    return commands(Settings.model_construct(home=tmp_path, kafka=lone.bootstrap))


def commands(settings: Settings) -> Cli:
    app = typer.Typer()
    topics.register(app)
    app.callback()(lambda: None)
    return lambda *words: CliRunner().invoke(app, ["topics", *words], obj=Session(settings=lambda: settings))


def test_the_commands_make_all_topics_and_find_what_differs(lone: Broker, cli: Cli) -> None:
    lacking = cli("diff", "--json")
    every = {topic.name for topic in wanted(replication=1)}
    assert (lacking.exit_code, {row["topic"] for row in rows(lacking)}) == (1, every)
    made = cli("apply", "--json")
    assert (made.exit_code, {row["topic"] for row in rows(made)}) == (0, every)
    for command in ("diff", "apply"):
        nothing = cli(command, "--json")
        assert (nothing.exit_code, nothing.stdout) == (0, "")
    other = cli("diff", "--json", "--partitions", "6")
    assert other.exit_code == 1
    assert {"topic": "memory", "differs": "partitions", "wanted": 6, "found": 24} in rows(other)
    assert "partitions" in cli("diff", "--partitions", "6").stdout


def rows(result: Result) -> list[dict[str, str | int]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_without_a_named_kafka_the_commands_say_how_to_name_one(tmp_path: Path) -> None:
    cli = commands(Settings.model_construct(home=tmp_path, kafka=None))
    for command in ("apply", "diff"):
        error = cli(command).exception
        assert isinstance(error, UsageError)
        assert "ANABRANCH_KAFKA" in str(error)
        assert "anabranch kafka up" in str(error)
