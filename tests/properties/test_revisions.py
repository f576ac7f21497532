"""Revisions in any order, however far apart: the highest stands, and nothing that is open shows another."""

from __future__ import annotations

import json
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from schemas.space import Space
from tests.fakes.disturbed import small_window
from tests.fakes.effort import effort
from tests.fakes.folders import quick_folder
from tests.fakes.rigs import real_rig
from tests.fakes.sent import Kind, Sent

SPACE = Space("acme/u-1")
TEXTS = ("I live in {}.", "My flight to {} is on Monday.", 'I read "{}" yesterday.', "I love {} food.", "{}, no doubt.")
Arrival = tuple[str, int]


def word(turn_id: str, revision: int) -> str:
    """Return a word that only this revision of this turn has."""
    return f"Z{turn_id}{'abcd'[revision]}ville"


def sent(arrival: Arrival, minute: int, template: str) -> Sent:
    turn_id, revision = arrival
    text = template.format(word(turn_id, revision))
    return Sent(SPACE, Kind.TURN, turn_id, text, revision=revision, minute=minute)


arrivals = st.lists(st.tuples(st.sampled_from("pqr"), st.integers(0, 3)), min_size=1, max_size=10)
fillers = st.lists(st.integers(0, 3), min_size=10, max_size=10)


@effort(15)
@given(
    arrivals=arrivals,
    fillers=fillers,
    templates=st.lists(st.sampled_from(TEXTS), min_size=3, max_size=3),
    window=st.sampled_from([4, 16, 64]),
)
async def test_only_the_highest_revision_is_open(
    arrivals: list[Arrival], fillers: list[int], templates: list[str], window: int
) -> None:
    log: list[Sent] = []
    for arrival, filler in zip(arrivals, fillers, strict=False):
        log.append(sent(arrival, len(log), templates["pqr".index(arrival[0])]))
        log += [Sent(SPACE, Kind.TURN, f"f{len(log) + n}", "Number passes by.", minute=len(log)) for n in range(filler)]
        log += [Sent(SPACE, Kind.DRAIN, f"d{len(log)}")] if filler > 1 else []
    highest: dict[str, int] = {}
    repeats = 0
    for turn_id, revision in arrivals:
        repeats += revision <= highest.get(turn_id, -1)
        highest[turn_id] = max(revision, highest.get(turn_id, -1))
    with small_window(window), quick_folder() as folder:
        rig = real_rig(folder)
        await rig.live(log)
        fortune = rig.fortune(SPACE)
    assert (fortune.sums.duplicates, fortune.sums.lettered) == (repeats, 0)
    rows = [json.loads(row) for row in fortune.memory]
    closed = {row["id"] for row in rows if row["row"] == "closed"}
    is_open = [row for row in rows if row["row"] == "record" and row["id"] not in closed]
    turns = Counter(row["provenance"][0] for row in is_open if row["kind"] == "turn")
    for turn_id, last in highest.items():
        assert turns[turn_id] == 1
        for revision in range(4):
            shown = [row["kind"] for row in is_open if word(turn_id, revision).lower() in row["text"].lower()]
            assert ("turn" in shown) if revision == last else not shown
