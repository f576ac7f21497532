"""Invariant 7 with a model: the state is small, flat and written in small parts, in a chat and in a channel."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import pytest

from schemas.extracted import Extracted, Quoted
from schemas.localized import Localized
from schemas.turn import Role, Speaker
from stages.contract import Emit
from stages.extract_per_view import ExtractPerView, ExtractState
from stages.extract_per_view.answers import Proposals
from stages.route import Route, RouteState
from tests.fakes.busy import NoHistory, Scales, extracted, localized, longest
from tests.fakes.embedder import DigestEmbedder
from tests.fakes.language_model import Scripted
from tests.fakes.reader import said

TURNS = 320
NUMBERS = count(10_000)
PAIRS = (Speaker(id="u-1", name="Mia"), Speaker(id="bot", name="Rook", role=Role.AGENT))


def longest_answers(request: Any) -> object:
    """Answer as much as the shapes of answers allow."""
    if request.prompt.name.endswith(".extract"):
        text = json.loads(request.data)["turns"][0]["text"]
        return {"items": [said(1, text[:40], f"City number {n}. {text}"[:400], views=[1, 2, 3]) for n in range(5)]}
    number = next(NUMBERS)
    name, slots = "\U0001f600" * 50, ["\U0001f600" * 24] * 6
    view = {"name": name, "kind": "event", "slots": slots, "look_for": f"{number} " + "\U0001f600" * 290}
    if request.prompt.answer is Proposals:
        return {"views": [view | {"name": f"{n} {name}", "chunks": [1, 2, 3]} for n in range(10)]}
    return {name: value for name, value in view.items() if name != "kind"}


async def spoken(ids: Sequence[Speaker] | None, sentences: int) -> Iterator[Localized]:
    """Return turns: of a channel, each opening a chunk, or of a pair, each second one an answer."""
    return (_placed(one, ids) for one in await localized(TURNS, longest("x", 40), sentences))


def _placed(one: Localized, pair: Sequence[Speaker] | None) -> Localized:
    if pair is None:
        return one
    position = one.header.position
    turn = one.normalized.turn.model_copy(update={"speaker": pair[position % 2], "session": "s"})
    placement = one.placement.model_copy(update={"interaction": position - position % 2, "branch": 0})
    normalized = one.normalized.model_copy(update={"turn": turn})
    return one.model_copy(update={"normalized": normalized, "placement": placement})


@pytest.mark.parametrize("pair", [None, PAIRS], ids=["channel", "chat"])
async def test_the_state_stays_within_its_bounds(pair: Sequence[Speaker] | None) -> None:
    stage = ExtractPerView(DigestEmbedder(), NoHistory(), Scripted(longest_answers))
    state, scales = ExtractState(), Scales()
    for message in await spoken(pair, sentences=8):
        outcome = await stage.decide(message, state)
        assert isinstance(outcome, Emit)
        state = outcome.state
        scales.weigh(message.header.position, state)
    assert (state.learning.active is None) is (pair is not None)  # a chat's candidates are in memory, which is empty
    assert ExtractState.from_parts(state.parts()) == state
    assert max(scales.totals) < 64_000
    late = len(scales.totals) // 2
    assert max(scales.totals[late:]) <= 1.05 * max(scales.totals[:late])
    assert sum(scales.written) / len(scales.written) < 4_096 - 1_500


async def test_the_state_of_route_has_room_for_items_of_earlier_turns() -> None:
    stage, state, scales = Route(NoHistory()), RouteState(), Scales()
    for message in await extracted(240, longest("x")):
        outcome = await stage.decide(_of_the_turn_before(message), state)
        assert isinstance(outcome, Emit)
        state = outcome.state
        scales.weigh(message.header.position, state)
    assert RouteState.from_parts(state.parts()) == state
    scales.check()


def _of_the_turn_before(one: Extracted) -> Extracted:
    turn, position = one.localized.normalized.turn, one.header.position
    if not position:
        return one
    other = Speaker(id=f"other {turn.speaker.id}"[:256])
    quoted = Quoted(position=position - 1, speaker=other, at=turn.at, branch=0)
    items = [
        item.model_copy(
            update={"quoted": quoted, "owner": other.id, "key": item.key.model_copy(update={"owner": other.id})}
        )
        for item in one.items
    ]
    return one.model_copy(update={"items": tuple(items)})
