from __future__ import annotations

from stages.contract import Emit
from stages.extract_per_view import ExtractPerView, ExtractState
from tests.fakes.busy import TURNS, NoHistory, Scales, localized
from tests.fakes.embedder import DigestEmbedder


async def test_state_of_a_busy_channel_is_small_flat_and_written_in_small_parts() -> None:
    stage, state, scales = ExtractPerView(DigestEmbedder(), NoHistory()), ExtractState(), Scales()
    for message in await localized(TURNS):
        outcome = await stage.decide(message, state)
        assert isinstance(outcome, Emit)
        state = outcome.state
        scales.weigh(message.header.position, state)
    assert ExtractState.from_parts(state.parts()) == state
    scales.check()
