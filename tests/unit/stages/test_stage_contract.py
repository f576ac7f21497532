"""What holds for each of the five stages alike: first states, stored states, control events, preparing for nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.control import Control, Drain, Passed
from schemas.header import EventKind, Header, Skipped
from schemas.memory import OutcomeRow
from schemas.numbered import Numbered
from schemas.routed import Routed
from schemas.space import Space
from stages.commit import Commit
from stages.contract import Emit
from stages.extract_per_view import ExtractPerView
from stages.localize_state import LocalizeState
from stages.normalize import Normalize
from stages.route import Route
from tests.fakes.embedder import DigestEmbedder
from tests.fakes.history import MemoryHistory

SPACE = Space("acme/u-42")
HEADER = Header(space=SPACE, position=0, kind=EventKind.CONTROL, event_id="night", offset=1)
CONTROL = Control(space=SPACE, event_id="night", at=datetime(2026, 3, 2, 3, tzinfo=UTC), body=Drain())
PASSED = Passed(header=HEADER, control=CONTROL)


def stages() -> dict[str, tuple[Any, Any]]:
    """Return each stage with the control event as it comes to it."""
    embedder, memory = DigestEmbedder(), MemoryHistory()
    given: list[tuple[Any, Any]] = [
        (Normalize(embedder, memory), Numbered(header=HEADER, event=CONTROL)),
        (LocalizeState(memory), PASSED),
        (ExtractPerView(embedder, memory), PASSED),
        (Route(memory, embedder.model), PASSED),
        (Commit(embedder), Routed(header=HEADER, source=PASSED)),
    ]
    return {stage.name: (stage, message) for stage, message in given}


NAMES = list(stages())


@pytest.mark.parametrize("name", NAMES)
def test_a_first_state_is_stored_and_read_again(name: str) -> None:
    stage, _ = stages()[name]
    first = stage.initial(SPACE)
    assert stage.restore(first.parts()) == first
    assert stage.restore(first.parts()).parts() == first.parts()


@pytest.mark.parametrize("name", NAMES)
async def test_a_control_event_passes_whole(name: str) -> None:
    stage, message = stages()[name]
    await stage.prepare([message])
    outcome = await stage.decide(message, stage.initial(SPACE))
    assert isinstance(outcome, Emit)
    assert outcome.message.header == HEADER
    if name in {"normalize", "localize_state", "extract_per_view"}:
        assert outcome.message == PASSED
    elif name == "route":
        assert outcome.message.source == PASSED
    else:
        assert [(row.row, row.event_id) for row in outcome.message.rows] == [("outcome", "night")]


async def test_commit_gives_a_marker_its_outcome_and_embeds_nothing_for_it() -> None:
    embedder = DigestEmbedder()
    marker = Skipped(header=HEADER, stage="extract_per_view", reason="crashed")
    stage = Commit(embedder)
    await stage.prepare([marker])
    outcome = await stage.decide(marker, stage.initial(SPACE))
    assert isinstance(outcome, Emit)
    (row,) = outcome.message.rows
    assert isinstance(row, OutcomeRow)
    assert (row.position, row.state.value) == (0, "lettered")
    assert not any(embedder.calls)
