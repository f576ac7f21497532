"""The topics that the flow needs, beside the architecture's table."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra.errors import UsageError
from infra.kafka import WantedTopic, wanted
from schemas.space import Space
from streams.kafka.names import state_topic, topic_name
from streams.kafka.upkeep import BEAT_S, FOLD_S
from streams.topology import FLOW
from tests.fakes.real_home import RealHome, said

MONTH, WEEK, TWO_DAYS, DAY = "2592000000", "604800000", "172800000", "86400000"
FOREVER = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}
FOR_A_MONTH = FOREVER | {"retention.ms": MONTH}
COMPACTED = {
    "cleanup.policy": "compact",
    "segment.ms": DAY,
    "min.cleanable.dirty.ratio": "0.5",
    "delete.retention.ms": WEEK,
}
STATE = COMPACTED | {"min.compaction.lag.ms": TWO_DAYS, "max.compaction.lag.ms": WEEK}
MEMORY = COMPACTED | {"max.compaction.lag.ms": DAY}
LATER = "turns.normalized turns.localized turns.extracted turns.routed".split()
STATES = "state.normalize state.localize_state state.extract_per_view state.route state.commit".split()
MIB = 1024 * 1024


def by_name(**more: int) -> dict[str, WantedTopic]:
    return {topic.name: topic for topic in wanted(replication=3, **more)}


@pytest.mark.parametrize(
    ("name", "settings", "largest"),
    [
        ("turns", FOREVER, 4 * MIB),
        *((name, FOR_A_MONTH, 32 * MIB) for name in LATER),
        ("memory", MEMORY, 32 * MIB),
        *((name, STATE, 32 * MIB) for name in STATES),
        ("model.results", FOREVER, 32 * MIB),
        ("letters", FOR_A_MONTH, 64 * MIB),
    ],
)
def test_the_settings_of_the_table(name: str, settings: dict[str, str], largest: int) -> None:
    every = {
        "max.message.bytes": str(largest),
        "message.timestamp.type": "LogAppendTime",
        "min.insync.replicas": "2",
        "unclean.leader.election.enable": "false",
    }
    topic = by_name()[name]
    assert (topic.partitions, topic.replication, topic.settings) == (24, 3, settings | every)


def test_heartbeats_come_well_before_a_segment_may_be_sealed_and_states_are_folded_before_they_are_compacted() -> None:
    for name in ("memory", *STATES):
        settings = by_name()[name].settings
        assert int(settings["segment.ms"]) >= 1000 * BEAT_S * 4
        assert int(settings["segment.ms"]) <= int(settings["max.compaction.lag.ms"])
    for name in STATES:
        assert int(by_name()[name].settings["min.compaction.lag.ms"]) >= 1000 * FOLD_S * 4


def test_there_are_no_others() -> None:
    assert list(by_name()) == ["turns", *LATER, "memory", *STATES, "model.results", "letters"]


def test_the_longest_text_fits_where_it_enters() -> None:
    assert len(("\U0001f300" * 1_000_000).encode()) < int(by_name()["turns"].settings["max.message.bytes"])


@pytest.mark.parametrize("unit", ["\U0001f300", "我爱你。", "On Monday I like Oslo. "], ids=["wide", "short", "found"])
async def test_what_stages_make_of_the_longest_text_fits_behind_them(unit: str, tmp_path: Path) -> None:
    """All of it grows with the text, so a shorter one tells."""
    length, longest = 20_000, 1_000_000
    home, space = RealHome(tmp_path), Space("long/one")
    await home.tell([said("t0", (unit * length)[:length], space), said("t1", "And then?", space)], space)
    with home.journal() as journal:
        edges = {step.target.name: journal.read_records(step.target.name, space, -1, 1) for step in FLOW[:-1]}
        sizes = {name: len(record.body) for name, (record,) in edges.items()}
    sizes["memory"] = max(len(row.encode()) for row in home.memory(space))
    for name, topic in by_name().items():
        assert sizes.get(name, 0) * longest / length < int(topic.settings["max.message.bytes"]), name


def test_nothing_is_smaller_than_what_feeds_it() -> None:
    largest = {name: int(topic.settings["max.message.bytes"]) for name, topic in by_name().items()}
    for step in FLOW:
        assert largest[step.source.name] <= largest[step.target.name]
    assert largest.pop("letters") > max(largest.values()) * 4 / 3  # in base64


def test_a_state_has_the_count_of_its_stages_input_and_memory_that_of_its_writers() -> None:
    counts = {name: topic.partitions for name, topic in by_name(partitions=6).items()}
    assert {name for name, count in counts.items() if count == 24} == {
        "turns", "state.normalize", "model.results", "letters"
    }  # fmt: skip
    for step in FLOW:
        assert counts[state_topic(step.name)] == counts[step.source.name]
    assert counts["memory"] == counts["turns.routed"] == 6


def test_a_later_generation_has_later_topics_of_its_own_and_shares_the_log() -> None:
    first, second = by_name(), by_name(generation=2)
    assert first.keys() & second.keys() == {"turns", "model.results", "letters"}
    assert second.keys() - first.keys() == {f"{name}.g2" for name in (*LATER, "memory", *STATES)}
    assert (topic_name("memory"), topic_name("memory", 2)) == ("memory", "memory.g2")
    assert (state_topic("route"), state_topic("route", 3)) == ("state.route", "state.route.g3")


@pytest.mark.parametrize(("replication", "expected"), [(1, "1"), (2, "1"), (3, "2"), (5, "4")])
def test_one_copy_may_be_missing(replication: int, expected: str) -> None:
    assert {topic.settings["min.insync.replicas"] for topic in wanted(replication=replication)} == {expected}


@pytest.mark.parametrize(
    "numbers", [{"replication": 0}, {"replication": 1, "min_insync": 2}, {"replication": 3, "min_insync": 0},
                {"replication": 1, "partitions": 0}, {"replication": 1, "generation": 0}]
)  # fmt: skip
def test_numbers_that_no_topic_can_have_are_refused(numbers: dict[str, int]) -> None:
    with pytest.raises(UsageError, match=r"no topics can have"):
        wanted(**numbers)
