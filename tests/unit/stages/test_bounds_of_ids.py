"""Ids longer than a state keeps, and turns heavier than a state holds, change what is stored, not what is decided."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.memory import ITEM_KINDS, CloseCause, RecordKind, RecordRow
from schemas.turn import Speaker, Turn
from stages.shown import TURNS, lasting, weight
from stages.stored import MAX_ID, clip, short, whole
from tests.fakes.busy import longest
from tests.fakes.flow import Flow
from tests.fakes.talk import turn_of

HEAVY = longest("\U0001f600")
MIA, BEN = (Speaker(id=HEAVY("user", n), name=name) for n, name in enumerate(("Mia", "Ben")))


@given(st.text(), st.integers(0, 60))
def test_a_clipped_text_is_a_beginning_that_fits_as_it_is_stored(text: str, room: int) -> None:
    text = text.encode("utf-8", "ignore").decode()
    shown = clip(text, room)
    assert text.startswith(shown)
    assert stored(shown) <= room
    assert shown == text or stored(text[: len(shown) + 1]) > room


def stored(text: str) -> int:
    """Return the bytes of a text as JSON, without its quotes; pydantic writes DEL as it is."""
    return len(json.dumps(text, ensure_ascii=False).encode()) - 2


@given(st.text(min_size=1, max_size=256), st.text(min_size=1, max_size=256))
def test_ids_are_kept_short_and_apart(one: str, other: str) -> None:
    one, other = (text.encode("utf-8", "ignore").decode() for text in (one, other))
    assert len(short(one).encode()) <= MAX_ID
    assert (short(one) == short(other)) == (one == other)
    assert short(one) == one or not whole(short(one))


def test_an_id_that_looks_like_a_digest_is_none() -> None:
    assert short(short(HEAVY("user", 1))) != short(HEAVY("user", 1))


@pytest.mark.parametrize(("one", "count"), [(60, TURNS), (1100, TURNS), (4200, 9)])
def test_usual_turns_last_by_number_and_heavy_ones_by_weight(one: int, count: int) -> None:
    assert lasting([one] * 50) == count
    assert lasting([one] * 3) == 3


def test_the_weight_of_a_turn_is_what_its_client_chose() -> None:
    light: Turn = turn_of("x" * 999, "t1")
    heavy = light.model_copy(update={"turn_id": HEAVY("t", 1), "session": HEAVY("s", 1)})
    assert weight(light) < 60
    assert weight(heavy) > 1900


async def test_a_correction_finds_its_statement_where_both_people_have_long_ids() -> None:
    flow = Flow()
    await flow.say("I will fly to Oslo on Monday.", speaker=MIA)
    await flow.say("Have a good trip!", speaker=BEN)
    rows = await flow.say("No, I said Tuesday.", speaker=MIA)
    (mine,) = [row for row in rows if isinstance(row, RecordRow) and row.kind in ITEM_KINDS]
    assert mine.key is not None
    assert mine.key.owner == MIA.id
    assert "Oslo" in mine.text
    assert MIA.id not in json.dumps([str(part) for part in flow.extracting.told])
    flow.check()


@pytest.mark.parametrize("ids", [longest("x", 40), HEAVY])
async def test_route_closes_the_windows_that_commit_wrote_whatever_the_ids_weigh(ids: Any) -> None:
    flow = Flow()

    async def say(text: str, number: int, revision: int = 0) -> None:
        speaker = Speaker(id=ids("user", number % 5), name=ids("name", number % 5))
        more: dict[str, Any] = {"speaker": speaker, "session": ids("session", 1), "revision": revision}
        await flow.say(text, ids("turn", number), **more)

    for number in range(14):
        await say(f"We painted room {number}.", number)
    for number in (13, 2, 11, 4, 5, 12):
        await say(f"We cleaned room {number}.", number, 1)
    for number in (2, 12, 4):
        await say(f"We tidied room {number}.", number, 2)
    flow.check()
    closed = {row.id for row in flow.closed(CloseCause.REVISION)}
    standing = [row for row in flow.records(RecordKind.WINDOW) if row.id not in closed]
    assert not any("painted room 13" in row.text or "painted room 2." in row.text for row in standing)
    assert any("tidied room 12" in row.text for row in standing)
