from __future__ import annotations

from stages.contract import Emit
from stages.route import Route, RouteState
from tests.fakes.busy import TURNS, NoHistory, Scales, extracted


async def test_state_of_a_busy_channel_is_small_flat_and_written_in_small_parts() -> None:
    stage, state, scales = Route(NoHistory()), RouteState(), Scales()
    for message in await extracted(TURNS):
        outcome = await stage.decide(message, state)
        assert isinstance(outcome, Emit)
        state = outcome.state
        scales.weigh(message.header.position, state)
    assert RouteState.from_parts(state.parts()) == state
    scales.check()
