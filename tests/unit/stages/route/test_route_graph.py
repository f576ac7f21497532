"""The typed graph: strengths of edges, and topics."""

from __future__ import annotations

import pytest

from schemas.header import record_id
from schemas.localized import Placement
from schemas.memory import EdgeRow, EdgeType, RecordKind
from schemas.turn import Turn
from stages.contract import WINDOW
from tests.fakes.embedder import DigestEmbedder
from tests.fakes.flow import BEN, SPACE, Flow


async def test_edges_have_the_strengths_of_the_paper() -> None:
    flow = Flow()
    await flow.say("I live in Oslo.")
    await flow.say("Nice place to be.", speaker=BEN)
    await flow.say("I moved here for my new work as a nurse.")
    strengths = {kind: {edge.strength for edge in flow.edges(kind)} for kind in EdgeType}
    expected: dict[EdgeType, set[int]] = {
        EdgeType.SPEAKER_NEXT: {90},
        EdgeType.SPEAKER_PREVIOUS: {45},
        EdgeType.NEXT: {70},
        EdgeType.PREVIOUS: {35},
        EdgeType.CONTINUES: {90},
        EdgeType.CONTINUED_BY: {45},
        EdgeType.SPEAKER_RELATED: {65},
        EdgeType.MENTIONS: {75},
        EdgeType.SUPPORTS: {80},
    }
    assert {kind: strengths[kind] for kind in expected} == expected
    flow.check()


async def test_temporal_edges_across_branches_count_half() -> None:
    flow = Flow()
    await flow.say("I live in Oslo.", root=True)
    await flow.say("Pizza is ready.", root=True)
    assert [edge.strength for edge in flow.edges(EdgeType.NEXT)] == [35]


async def test_one_topic_record_for_each_topic_also_beyond_the_state() -> None:
    flow = Flow(embedder=DigestEmbedder())
    for _ in range(2):
        await flow.say("My piano is out of tune.", "a" * (1 + flow.position))
        for n in range(80):
            await flow.say(f"Number {n}.")
    names = [row.key.attribute for row in flow.records(RecordKind.TOPIC) if row.key]
    assert len(names) == len(set(names))
    flow.check()


@pytest.mark.parametrize("before", range(4))
async def test_a_speakers_turns_are_joined_while_the_earlier_is_in_working_memory(before: int) -> None:
    flow = Flow(embedder=DigestEmbedder())
    for n in range(before):
        await flow.say(f"Number {n} passes by.")
    await flow.say("I own a red car.", speaker=BEN)
    for n in range(WINDOW):
        await flow.say(f"Number {n} passes by.")
    rows = await flow.say("I own a blue car.", speaker=BEN)
    first = record_id(SPACE, before, "turn")
    own = record_id(SPACE, before + WINDOW + 1, "turn")
    joined = [(row.source, row.target, row.type) for row in rows if isinstance(row, EdgeRow)]
    assert (first, own, EdgeType.SPEAKER_NEXT) in joined
    assert (own, first, EdgeType.SPEAKER_PREVIOUS) in joined
    flow.check()


class Joining(Flow):
    """A flow whose turns may continue several; ``also`` are the second antecedents of the next one."""

    also: tuple[str, ...] = ()

    def _placement(self, turn: Turn, *, root: bool) -> Placement:
        return super()._placement(turn, root=root).model_copy(update={"other_parents": self.also})


@pytest.mark.parametrize("between", [1, 2 * WINDOW])
async def test_a_turn_continues_its_second_antecedents_too_however_old(between: int) -> None:
    flow = Joining(embedder=DigestEmbedder())
    await flow.say("I own a red car.", "first")
    for n in range(between):
        await flow.say(f"Number {n} passes by.")
    flow.also = ("first", "nobody-said-this")
    rows = await flow.say("Both of them, then.", root=True)
    own = record_id(SPACE, between + 1, "turn")
    continued = [row.target for row in rows if isinstance(row, EdgeRow) and row.type is EdgeType.CONTINUES]
    assert continued == [record_id(SPACE, 0, "turn")]
    back = [row.target for row in rows if isinstance(row, EdgeRow) and row.type is EdgeType.CONTINUED_BY]
    assert back == [own]
    flow.check()
