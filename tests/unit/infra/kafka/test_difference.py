"""What differs between topics wanted and found; the rest is pure chance."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.kafka import Differences, FoundTopic, TopicsUnfitError, WantedTopic, difference, wanted

EVERY = wanted(replication=3)
INSYNC = "min.insync.replicas"


def found(topic: WantedTopic, **settings: str) -> FoundTopic:
    return FoundTopic(topic.name, topic.partitions, topic.replication, {**topic.settings, **settings})


ROUTED = next(topic for topic in EVERY if topic.name == "turns.routed")
TURNS = EVERY[0]
SAME = found(ROUTED)
RETENTION = replace(SAME, settings={**SAME.settings, "retention.ms": "1"})
NO_RETENTION = replace(SAME, settings={name: value for name, value in SAME.settings.items() if name != "retention.ms"})


@pytest.mark.parametrize(
    ("there", "differs"),
    [
        ([], [("topic", "24 partitions, 3 replicas", None)]),
        ([SAME], []),
        ([found(TURNS)], [("topic", "24 partitions, 3 replicas", None)]),
        ([RETENTION], [("retention.ms", "2592000000", "1")]),
        ([NO_RETENTION], [("retention.ms", "2592000000", None)]),
        ([found(ROUTED, **{"segment.ms": "5"})], []),  # not ours
        ([replace(SAME, partitions=6)], [("partitions", 24, 6)]),
        ([replace(SAME, partitions=30)], [("partitions", 24, 30)]),
        ([replace(SAME, replication=1)], [("replication", 3, 1)]),
        ([replace(SAME, replication=5)], []),  # safer
        ([found(ROUTED, **{INSYNC: "3"})], []),  # stricter
        ([found(ROUTED, **{INSYNC: "4"})], [(INSYNC, "2", "4")]),  # nobody could write
        ([found(ROUTED, **{INSYNC: "1"})], [(INSYNC, "2", "1")]),
    ],
)
def test_what_differs(there: list[FoundTopic], differs: list[tuple[str, object, object]]) -> None:
    rows = difference([ROUTED], there).rows()
    assert [(row["topic"], row["differs"], row["wanted"], row["found"]) for row in rows] == [
        ("turns.routed", *one) for one in differs
    ]


@pytest.mark.parametrize(
    ("topic", "there", "told"),
    [
        (ROUTED, replace(SAME, partitions=6), r"^turns\.routed: partitions 6, wanted 24: .*--partitions 6.*reindex"),
        (ROUTED, replace(SAME, partitions=30), r"^turns\.routed: partitions 30, wanted 24: never changed"),
        (TURNS, replace(found(TURNS), partitions=6), r"^turns: partitions 6, .*24 for life.*ANABRANCH_KAFKA"),
        (ROUTED, replace(SAME, replication=2), r"^turns\.routed: replication 2, wanted 3: .*--replication 2"),
    ],
)  # fmt: skip
def test_counts_are_refused_by_name_with_a_way_out(topic: WantedTopic, there: FoundTopic, told: str) -> None:
    with pytest.raises(TopicsUnfitError, match=told):
        difference([topic], [there]).refuse_counts()


def test_each_topic_that_cannot_be_mended_is_named() -> None:
    there = [replace(found(topic), partitions=1) for topic in EVERY]
    with pytest.raises(TopicsUnfitError) as refused:
        difference(EVERY, there).refuse_counts()
    shared, later = str(refused.value).splitlines()
    assert shared.startswith("turns, model.results, letters: partitions 1, wanted 24")
    named = later.partition(": ")[0].split(", ")
    assert named == [topic.name for topic in EVERY if topic.name not in {"turns", "model.results", "letters"}]


def test_what_is_missing_or_set_otherwise_can_be_mended() -> None:
    difference(EVERY, [RETENTION]).refuse_counts()


names = st.sampled_from([topic.name for topic in EVERY])
values = st.dictionaries(
    st.sampled_from(["retention.ms", "cleanup.policy", "segment.ms", INSYNC]), st.sampled_from(["1", "2", "3", "9"])
)
clusters = st.dictionaries(
    names | st.sampled_from(["foreign", "turns.routed.g2"]),
    st.builds(FoundTopic, st.just(""), st.just(24), st.integers(3, 5), values),
).map(lambda topics: [replace(topic, name=name) for name, topic in topics.items()])


def mended(there: list[FoundTopic], differences: Differences) -> list[FoundTopic]:
    """Do what a cluster does with the differences that can be mended."""
    changes: dict[str, dict[str, str]] = {}
    for one in differences.settings:
        changes.setdefault(one.topic, {})[one.name] = one.wanted
    kept = [replace(topic, settings={**topic.settings, **changes.get(topic.name, {})}) for topic in there]
    return kept + [found(topic) for topic in differences.missing]


@given(clusters)
def test_mending_what_differs_leaves_nothing_that_differs(there: list[FoundTopic]) -> None:
    differences = difference(EVERY, there)
    assert bool(differences) == any(differences.rows())
    assert not difference(EVERY, mended(there, differences))


@given(clusters)
def test_only_wanted_topics_and_our_settings_are_ever_named(there: list[FoundTopic]) -> None:
    owned = {(topic.name, name) for topic in EVERY for name in topic.settings}
    assert {(one.topic, one.name) for one in difference(EVERY, there).settings} <= owned


@given(clusters)
def test_no_topic_loses_copies_in_step_that_it_can_have(there: list[FoundTopic]) -> None:
    copies = {topic.name: topic.replication for topic in there}
    lowered = [one for one in difference(EVERY, there).settings if one.name == INSYNC and one.found is not None]
    assert all(int(one.found or 0) < int(one.wanted) or int(one.found or 0) > copies[one.topic] for one in lowered)
