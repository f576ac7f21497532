"""What holds whatever is said."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.control import Control, Drain, Passed
from schemas.header import EventKind, Header
from schemas.localized import Rule
from stages.contract import Emit
from stages.localize_state import Forest, LocalizeState
from tests.fakes.forest import SPACE, START, Grove
from tests.fakes.history import MemoryHistory

speakers = st.sampled_from(["mia", "leo", "bot", "*", "ann_", "\u674e\u660e"])
texts = st.one_of(
    st.sampled_from(
        [
            "mia: yes", "leo, ann: look", "Back to the plan we talked about", "as I was saying", "thanks", "why?",
            "leo is now known as lea", "by the way, what about the trip?",
            "\u4f60\u597d\uff0c\u5929\u6c14\u600e\u4e48\u6837\uff1f",
        ]
    ),
    st.text(min_size=1, max_size=60).filter(lambda text: bool(text.strip())),
)  # fmt: skip
turns = st.tuples(speakers, texts, st.integers(0, 200), st.one_of(st.none(), st.integers(0, 120)))


async def talked(lines: list[tuple[str, str, int, int | None]], repeat: int) -> Grove:
    grove = Grove()
    for who, text, pause, back in lines * repeat:
        more: dict[str, Any] = {} if back is None else {"reply_to": f"t{back}"}
        await grove.say(who, text, after=pause, **more)
    return grove


@given(st.lists(turns, min_size=1, max_size=12), st.integers(1, 10))
@settings(max_examples=40, deadline=None)
async def test_every_placement_is_a_forest(lines: list[tuple[str, str, int, int | None]], repeat: int) -> None:
    grove = await talked(lines, repeat)
    for position, (turn_id, place) in enumerate(grove.placements.items()):
        assert len(place.runners_up) <= 3
        assert len(place.path_summary.encode()) <= 500
        if place.rule is Rule.NEW_ROOT:
            assert (place.parent_turn_id, place.branch, place.interaction, place.depth) == (None, position, position, 0)
            continue
        assert place.parent_position is not None
        assert place.parent_position < position
        assert turn_id not in {place.parent_turn_id, *place.other_parents}
        parent = grove.placements[f"t{place.parent_position}"]
        assert place.parent_turn_id == f"t{place.parent_position}"
        assert (place.branch, place.depth) == (parent.branch, parent.depth + 1)
        assert place.interaction in {position, parent.interaction}
        assert (place.score is not None) == (place.rule is Rule.RANKED)


@given(st.lists(turns, min_size=1, max_size=10))
@settings(max_examples=20, deadline=None)
async def test_the_same_turns_make_the_same_bytes(lines: list[tuple[str, str, int, int | None]]) -> None:
    one, two = await talked(lines, 8), await talked(lines, 8)
    assert one.placements == two.placements
    assert one.state.parts() == two.state.parts()


@given(st.lists(turns, min_size=2, max_size=10), st.integers(1, 60))
@settings(max_examples=20, deadline=None)
async def test_a_state_that_was_stored_decides_alike(lines: list[tuple[str, str, int, int | None]], cut: int) -> None:
    kept, stored = Grove(), Grove()
    for number, (who, text, pause, back) in enumerate(lines * 8):
        more: dict[str, Any] = {} if back is None else {"reply_to": f"t{back}"}
        if number % cut == 0:
            stored.state = LocalizeState(stored.history).restore(stored.state.parts())
        assert await kept.say(who, text, after=pause, **more) == await stored.say(who, text, after=pause, **more)
    assert kept.state == stored.state


@given(st.lists(turns, min_size=2, max_size=12))
@settings(max_examples=20, deadline=None)
async def test_reads_are_few_and_as_of_w_events_ago(lines: list[tuple[str, str, int, int | None]]) -> None:
    grove = Grove()
    for who, text, pause, back in lines * 8:
        grove.history.reads.clear()
        grove.history.positions.clear()
        more: dict[str, Any] = {} if back is None else {"reply_to": f"t{back}"}
        await grove.say(who, text, after=pause, **more)
        assert set(grove.history.positions) <= {grove.position - 1 - 64}
        assert all(position >= 0 for position in grove.history.positions)
        assert grove.history.reads["nearest"] <= 1
        assert grove.history.reads["lexical"] <= 1


async def test_a_control_event_passes_and_leaves_the_forest() -> None:
    header = Header(space=SPACE, position=3, kind=EventKind.CONTROL, event_id="e", offset=3)
    passed = Passed(header=header, control=Control(space=SPACE, event_id="e", at=START, body=Drain()))
    state = Forest()
    outcome = await LocalizeState(MemoryHistory()).decide(passed, state)
    assert outcome == Emit(passed, state)
