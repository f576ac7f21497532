"""commit: windows of turns, outcomes, order of rows, and rows that do not hold together."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from infra.models import HashEmbedder
from schemas.control import Control, Drain, Passed
from schemas.extracted import Extracted
from schemas.header import EventKind, Header, Skipped, record_id
from schemas.localized import Localized, Placement, Rule
from schemas.memory import OutcomeRow, RecordKind, RecordRow
from schemas.normalized import Attitude, Normalized, Piece, Understanding
from schemas.routed import RecordVector, Routed
from schemas.space import Space
from schemas.span import Span
from schemas.turn import Speaker, Turn
from stages.commit import Commit, CommitState
from stages.commit.windows import TURN_BYTES
from stages.contract import Emit, Reject
from tests.fakes.flow import Flow
from tests.fakes.stages import turn_record

SPACE = Space("acme/u-1")
START = datetime(2026, 3, 1, 18, tzinfo=UTC)


def header(position: int, event_id: str) -> Header:
    return Header(space=SPACE, position=position, kind=EventKind.TURN, event_id=event_id, offset=position + 1)


def extracted(position: int, text: str, *, turn_id: str | None = None, revises: int | None = None) -> Extracted:
    head = header(position, turn_id or f"t{position}")
    turn = Turn(
        space=SPACE,
        turn_id=head.event_id,
        speaker=Speaker(id="mia", name="Mia"),
        text=text,
        at=START + timedelta(minutes=position),
    )
    piece = Piece(span=Span(start=0, end=len(text)), text=text, vector=bytes(384))
    z = Understanding(summary=text[:50], topic="t", attitude=Attitude.NONE)
    normalized = Normalized(header=head, turn=turn, text=text, pieces=(piece,), z=z, revises=revises)
    placement = Placement(rule=Rule.NEW_ROOT, branch=position, interaction=position)
    return Extracted(header=head, localized=Localized(header=head, normalized=normalized, placement=placement))


def routed(position: int, text: str, *, turn_id: str | None = None, revises: int | None = None) -> Routed:
    source = extracted(position, text, turn_id=turn_id, revises=revises)
    row = turn_record(source)
    vector = RecordVector(record_id=row.id, vector=bytes(384))
    return Routed(header=source.header, source=source, rows=(row,), vectors=(vector,))


def marker(position: int) -> Skipped:
    return Skipped(header=header(position, f"t{position}"), stage="normalize", reason="blank")


async def windows(*messages: Routed | Skipped) -> list[tuple[int, str]]:
    """Return (position of the event that brought it, text) of every window."""
    stage, state, found = Commit(HashEmbedder()), CommitState(), list[tuple[int, str]]()
    for message in messages:
        outcome = await stage.decide(message, state)
        assert isinstance(outcome, Emit)
        state = CommitState.from_parts(outcome.state.parts())
        found += [
            (message.header.position, row.text)
            for row in outcome.message.rows
            if isinstance(row, RecordRow) and row.kind is RecordKind.WINDOW
        ]
    return found


CASES: list[tuple[str, list[Routed | Skipped], list[tuple[int, str]]]] = [
    ("the last turn has none yet", [routed(0, "one")], []),
    ("written when the next turn comes", [routed(0, "one"), routed(1, "two")], [(1, "Mia: one\nMia: two")]),
    (
        "both neighbours are shown",
        [routed(0, "one"), routed(1, "two"), routed(2, "three")],
        [(1, "Mia: one\nMia: two"), (2, "Mia: one\nMia: two\nMia: three")],
    ),
    (
        "a lettered event is no neighbour",
        [routed(0, "one"), marker(1), routed(2, "two")],
        [(2, "Mia: one\nMia: two")],
    ),
    (
        "a turn revised at once never shows its former text",
        [routed(0, "one"), routed(1, "wrong"), routed(2, "right", turn_id="t1", revises=1), routed(3, "next")],
        [(1, "Mia: one\nMia: wrong"), (2, "Mia: one\nMia: right"), (3, "Mia: one\nMia: right\nMia: next")],
    ),
    (
        "a revision stands where the turn stood",
        [routed(0, "wrong"), routed(1, "one"), routed(2, "right", turn_id="t0", revises=0), routed(3, "two")],
        [(1, "Mia: wrong\nMia: one"), (2, "Mia: right\nMia: one"), (3, "Mia: right\nMia: one\nMia: two")],
    ),
    (
        "the neighbours' windows come back with the new text",
        [*(routed(n, text) for n, text in enumerate("abxcd")), routed(5, "X", turn_id="t2", revises=2)],
        [
            (1, "Mia: a\nMia: b"),
            (2, "Mia: a\nMia: b\nMia: x"),
            (3, "Mia: b\nMia: x\nMia: c"),
            (4, "Mia: x\nMia: c\nMia: d"),
            (5, "Mia: a\nMia: b\nMia: X"),
            (5, "Mia: b\nMia: X\nMia: c"),
            (5, "Mia: X\nMia: c\nMia: d"),
        ],
    ),
]


@pytest.mark.parametrize(("what", "messages", "expected"), CASES, ids=[case[0] for case in CASES])
async def test_windows(what: str, messages: list[Routed | Skipped], expected: list[tuple[int, str]]) -> None:
    assert await windows(*messages) == expected


async def test_a_window_is_anchored_at_its_turn_and_known_from_the_next_on() -> None:
    stage = Commit(HashEmbedder())
    first = await stage.decide(routed(0, "one"), CommitState())
    assert isinstance(first, Emit)
    second = await stage.decide(routed(1, "two"), first.state)
    assert isinstance(second, Emit)
    window = second.message.rows[0]
    assert isinstance(window, RecordRow)
    assert (window.id, window.provenance, window.since, window.at) == (
        record_id(SPACE, 0, "window"),
        ("t0", "t1"),
        1,
        START,
    )
    assert window.id in {vector.record_id for vector in second.message.vectors}


async def test_long_turns_are_clipped_at_whole_characters() -> None:
    ((_, text),) = await windows(routed(0, "é" * 1000), routed(1, "two"))
    line = text.partition("\n")[0].removeprefix("Mia: ")
    assert len(line.encode()) <= TURN_BYTES
    assert set(line) == {"é"}


async def test_the_turn_comes_last_and_then_the_outcome() -> None:
    stage = Commit(HashEmbedder())
    first = await stage.decide(routed(0, "one"), CommitState())
    assert isinstance(first, Emit)
    second = await stage.decide(routed(1, "two"), first.state)
    assert isinstance(second, Emit)
    kinds = [row.kind if isinstance(row, RecordRow) else row.row for row in second.message.rows]
    assert kinds == ["window", "turn", "outcome"]


async def test_a_marker_becomes_the_outcome_of_its_position() -> None:
    outcome = await Commit(HashEmbedder()).decide(marker(7), CommitState())
    assert isinstance(outcome, Emit)
    (row,) = outcome.message.rows
    assert isinstance(row, OutcomeRow)
    assert (row.position, row.state, row.stage, row.reason) == (7, "lettered", "normalize", "blank")


async def test_a_control_event_is_committed_without_a_window() -> None:
    head = header(3, "drain-1").model_copy(update={"kind": EventKind.CONTROL})
    passed = Passed(header=head, control=Control(space=SPACE, event_id="drain-1", at=START, body=Drain()))
    outcome = await Commit(HashEmbedder()).decide(Routed(header=head, source=passed), CommitState())
    assert isinstance(outcome, Emit)
    assert [row.row for row in outcome.message.rows] == ["outcome"]


def broken() -> list[tuple[str, Routed]]:
    good = routed(0, "one")
    row = good.rows[0]
    elsewhere = row.model_copy(update={"space": Space("evil/u-1")})
    stranger = RecordVector(record_id="x", vector=bytes(384))
    short = RecordVector(record_id=good.vectors[0].record_id, vector=bytes(12))
    return [
        ("share an id", good.model_copy(update={"rows": (row, row)})),
        ("another space", good.model_copy(update={"rows": (elsewhere,)})),
        ("no record", good.model_copy(update={"vectors": (stranger,)})),
        ("dimensions", good.model_copy(update={"vectors": (short,)})),
    ]


@pytest.mark.parametrize(("fault", "message"), broken(), ids=[fault for fault, _ in broken()])
async def test_rows_that_do_not_hold_together_are_refused_before_any_is_written(fault: str, message: Routed) -> None:
    outcome = await Commit(HashEmbedder()).decide(message, CommitState())
    assert isinstance(outcome, Reject)
    assert fault in outcome.reason
    assert "t0" in outcome.reason
    assert SPACE in outcome.reason
    assert not outcome.input_fault


async def test_what_models_said_that_is_not_so_is_counted_whichever_stage_dropped_it() -> None:
    flow = Flow()
    await flow.say("I live in Oslo.")
    routed = flow.routed[-1]
    assert isinstance(routed.source, Extracted)
    heard = routed.source.localized
    heard = heard.model_copy(update={"normalized": heard.normalized.model_copy(update={"unquoted": 1})})
    read = routed.source.model_copy(update={"localized": heard, "refused": 2})
    judged = routed.model_copy(update={"source": read, "refused": 4})
    outcome = await Commit(flow.embedder).decide(judged, CommitState())
    assert isinstance(outcome, Emit)
    assert outcome.message.refused == 7
    by_rules = await Commit(flow.embedder).decide(routed, CommitState())
    assert isinstance(by_rules, Emit)
    assert "refused" not in by_rules.message.model_dump()
