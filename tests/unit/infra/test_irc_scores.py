from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.bench.irc_baselines import Line, addressee_or_same_speaker, previous_message, read_log
from infra.bench.irc_scores import Measure, Pair, read_annotation, scores

ARCHIVE = Path(__file__).resolve().parents[3].parent / "shared" / "data" / "irc" / "dev.tar.gz"

GOLD: set[Pair] = {(1000, 1000), (1000, 1001), (1002, 1002), (1001, 1003), (1002, 1004), (1005, 1005)}


def test_the_same_links_score_full_marks() -> None:
    found = scores({"a": GOLD}, {"a": GOLD})
    assert found.links == found.exact == Measure(100, 100, 100)
    assert (found.variation, found.one_to_one, found.rand) == pytest.approx((100, 100, 100))


def test_links_count_self_links_and_only_annotated_messages() -> None:
    said = {(1000, 1000), (1000, 1001), (1001, 1002), (1001, 1003), (7, 8), (1000, 1999)}
    found = scores({"a": GOLD}, {"a": said})
    assert found.links == pytest.approx((75, 50, 60))


def test_conversations_of_one_message_are_no_exact_matches() -> None:
    said = {(1000, 1000), (1000, 1001), (1000, 1003), (1002, 1002), (1004, 1004), (1005, 1005)}
    assert scores({"a": GOLD}, {"a": said}).exact == pytest.approx((100, 50, 200 / 3))


def test_a_link_to_context_counts_as_a_link_but_joins_no_conversation() -> None:
    gold = {(990, 1000), (990, 1001), (1001, 1002)}
    found = scores({"a": gold}, {"a": {(990, 1000), (1000, 1001), (1001, 1002)}})
    assert found.links == pytest.approx((200 / 3, 200 / 3, 200 / 3))
    assert found.exact.f == 0


def test_files_are_pooled_and_kept_apart() -> None:
    pair = {(1000, 1000), (1000, 1001)}
    found = scores({"a": pair, "b": pair}, {"a": pair, "b": {(1000, 1000), (1001, 1001)}})
    assert found.links.f == pytest.approx(75)
    assert found.one_to_one == pytest.approx(75)


def test_known_values_of_clusterings() -> None:
    """Four in two pairs, put together as one: VI = log2 4 - 1, one pair overlaps, chance agreement only."""
    gold = {(1000, 1000), (1000, 1001), (1002, 1002), (1002, 1003)}
    found = scores({"a": gold}, {"a": gold | {(1001, 1002)}})
    assert found.variation == pytest.approx(50)
    assert found.one_to_one == pytest.approx(50)
    assert found.rand == pytest.approx(0)


links = st.lists(st.integers(0, 30), min_size=1, max_size=30).map(
    lambda back: {(1000 + max(0, i - gap), 1000 + i) for i, gap in enumerate(back)}
)


@given(links, links)
def test_scores_are_percentages_and_perfect_only_for_equal_conversations(gold: set[Pair], said: set[Pair]) -> None:
    found = scores({"a": gold}, {"a": said})
    for value in (*found.links, *found.exact, found.one_to_one):
        assert 0 <= value <= 100
    assert -1e-9 <= found.variation <= 100 + 1e-9
    assert found.rand <= 100 + 1e-9
    same = scores({"a": gold}, {"a": gold})
    assert same.one_to_one == pytest.approx(100)
    assert same.variation == pytest.approx(100)


@pytest.mark.parametrize("text", ["x y -\n", "7\n"])
def test_an_annotation_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"invalid literal|not enough"):
        read_annotation(text)


def test_annotations_put_the_antecedent_first() -> None:
    assert read_annotation("1002 1000 -\n1003 1003 - \n") == {(1000, 1002), (1003, 1003)}


LOG = """[02:02] <ann> hello
=== bob has joined
[02:03] <bob> hi
=== ann waves
[02:04] <cid> ann: hi
[02:05] <bob> so
"""


def test_a_log_is_read_with_actions_as_messages_and_notices_as_nobodys() -> None:
    speakers = [line.speaker for line in read_log(LOG)]
    assert speakers == ["ann", None, "bob", "ann", "cid", "bob"]


def test_baselines_link_as_they_say() -> None:
    lines = read_log(LOG)
    assert previous_message(lines) == {(0, 0), (1, 1), (0, 2), (2, 3), (3, 4), (4, 5)}
    assert addressee_or_same_speaker(lines) == {(0, 0), (1, 1), (2, 2), (0, 3), (3, 4), (2, 5)}


def test_a_speaker_out_of_reach_opens_a_conversation() -> None:
    lines = [Line("ann", "first"), *(Line(f"x{number}", "filler") for number in range(15)), Line("ann", "again")]
    assert (16, 16) in addressee_or_same_speaker(lines)


@pytest.mark.skipif(not ARCHIVE.exists(), reason=f"{ARCHIVE} is not on this machine")
def test_published_baselines_come_out_on_the_development_split() -> None:
    gold: dict[str, set[Pair]] = {}
    logs: dict[str, list[Line]] = {}
    with tarfile.open(ARCHIVE) as archive:
        for member in archive:
            name, _, kind = Path(member.name).name.partition(".")
            file = archive.extractfile(member)
            if file is None or kind not in {"annotation.txt", "ascii.txt"}:
                continue
            text = file.read().decode("utf-8", "replace")
            if kind == "ascii.txt":
                logs[name] = read_log(text)
            else:
                gold[name] = read_annotation(text)
    assert len(gold) == 10
    before = scores(gold, {name: previous_message(lines) for name, lines in logs.items()})
    assert before.links.f == pytest.approx(30.2, abs=0.1)
    assert before.exact.f == 0
    named = scores(gold, {name: addressee_or_same_speaker(lines) for name, lines in logs.items()})
    assert named.links.f == pytest.approx(56.4, abs=0.1)
    assert named.exact.f == pytest.approx(20.1, abs=1.0)
