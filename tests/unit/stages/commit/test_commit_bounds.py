from __future__ import annotations

from schemas.routed import Routed
from stages.commit import Commit, CommitState
from stages.contract import Emit
from tests.fakes.busy import TURNS, Scales, extracted
from tests.fakes.embedder import DigestEmbedder


async def test_state_of_a_busy_channel_is_small_flat_and_written_in_small_parts() -> None:
    stage, state, scales = Commit(DigestEmbedder()), CommitState(), Scales()
    for message in await extracted(TURNS):
        outcome = await stage.decide(Routed(header=message.header, source=message), state)
        assert isinstance(outcome, Emit)
        state = outcome.state
        scales.weigh(message.header.position, state)
    assert CommitState.from_parts(state.parts()) == state
    scales.check()
