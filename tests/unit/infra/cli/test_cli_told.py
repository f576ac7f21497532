"""Commands that tell what memory holds of a space: turns, placements, times, mentions, records, the forest."""

from __future__ import annotations

import json
from datetime import datetime

from schemas.interval import Grain, Interval, TimeMention
from schemas.localized import Placement, Rule, RunnerUp
from schemas.memory import CloseCause, ClosedRow, TurnDetail
from schemas.normalized import Attitude, Mention, Understanding
from schemas.space import Space
from schemas.span import Span
from schemas.turn import Turn
from tests.fakes.command import SPACE, Cli, line, objects
from tests.fakes.memory import FakeMemory, turn_record


def test_turns_tell_what_became_of_each(filled: Cli, memory: FakeMemory) -> None:
    memory.log.append((SPACE, json.dumps(line("t4", "later")).encode()))
    got = objects(filled("turns", "--space", SPACE, "--json", "--no-wait"))
    assert got[0] == {"turn_id": "t1", "position": 0, "state": "committed", "reason": None}
    assert got[3] == {"turn_id": "t4", "position": None, "state": "pending", "reason": None}
    assert memory.opened[-1] is False
    assert "committed" in filled("turns", "--space", SPACE).stdout


def test_records_are_canonical(filled: Cli, memory: FakeMemory) -> None:
    result = filled("records", "--space", SPACE, "--json")
    rows = objects(result)
    assert [row["row"] for row in rows] == ["outcome"] * 3 + ["record"] * 3
    for printed, row in zip(result.stdout_bytes.splitlines(), rows, strict=True):
        assert printed == json.dumps(row, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    memory.kept[Space(SPACE)].reverse()
    assert filled("records", "--space", SPACE, "--json").stdout_bytes == result.stdout_bytes
    assert "outcome" in filled("records", "--space", SPACE).stdout


def rich_turn() -> tuple[Turn, TurnDetail]:
    turn = Turn.model_validate_json(json.dumps(line("t5", "I read that book last year.")))
    last_year = Interval(
        start=datetime.fromisoformat("2025-01-01T00:00:00+01:00"),
        end=datetime.fromisoformat("2026-01-01T00:00:00+01:00"),
        grain=Grain.YEAR,
    )
    detail = TurnDetail(
        turn_id="t5",
        revision=0,
        reply_to=None,
        z=Understanding(summary="", topic="", attitude=Attitude.NONE),
        times=(TimeMention(phrase="last year", span=Span(start=17, end=26), interval=last_year),),
        mentions=(
            Mention(
                mention="that book", span=Span(start=7, end=16), refers_to="Ulysses", source_turn_id="t1",
                confidence=0.5,
            ),
        ),
        placement=Placement(
            parent_turn_id="t2", other_parents=("t1",), rule=Rule.RANKED, score=12, branch=0, interaction=0,
            runners_up=(RunnerUp(turn_id="t3", score=-4),),
        ),
    )  # fmt: skip
    return turn, detail


def test_placements_times_and_mentions_come_from_the_turn_records(filled: Cli, memory: FakeMemory) -> None:
    turn, detail = rich_turn()
    memory.kept[Space(SPACE)].append(turn_record(turn, 3, detail))
    assert objects(filled("placements", "--space", SPACE, "--json"))[-1] == {
        "turn_id": "t5", "parent_turn_id": "t2", "other_parents": ["t1"], "rule": "ranked", "score": 12,
        "runners_up": [{"turn_id": "t3", "score": -4}],
    }  # fmt: skip
    assert objects(filled("times", "--space", SPACE, "--json")) == [
        {"turn_id": "t5", "phrase": "last year", "start": "2025-01-01T00:00:00+01:00",
         "end": "2026-01-01T00:00:00+01:00", "grain": "year", "vague": False},
    ]  # fmt: skip
    assert objects(filled("mentions", "--space", SPACE, "--json")) == [
        {"turn_id": "t5", "mention": "that book", "refers_to": "Ulysses", "source_turn_id": "t1", "confidence": 0.5}
    ]
    for command in ("placements", "times", "mentions"):
        assert "t5" in filled(command, "--space", SPACE).stdout


def test_only_the_latest_open_revision_of_a_turn_counts(filled: Cli, memory: FakeMemory) -> None:
    rows = memory.kept[Space(SPACE)]
    old = next(row for row in rows if row.row == "record" and row.provenance == ("t2",))
    assert old.row == "record"
    revised = Turn.model_validate_json(json.dumps(line("t2", "Ravi bought a red bicycle.", revision=1)))
    rows.append(turn_record(revised, 3))
    rows.append(ClosedRow(space=Space(SPACE), id=old.id, until=3, cause=CloseCause.REVISION))
    got = objects(filled("placements", "--space", SPACE, "--json"))
    assert [(turn["turn_id"], turn["rule"]) for turn in got] == [
        ("t1", "new_root"),
        ("t3", "explicit"),
        ("t2", "new_root"),
    ]


def test_the_forest_is_a_tree_in_which_only_forks_indent(filled: Cli, memory: FakeMemory) -> None:
    for n in range(4, 2004):
        turn = Turn.model_validate_json(json.dumps(line("t1", "deeper", reply_to=f"t{n - 1}") | {"turn_id": f"t{n}"}))
        memory.kept[Space(SPACE)].append(turn_record(turn, n))
    lines = filled("forest", "--space", SPACE).stdout.splitlines()
    assert lines[:4] == [
        "● t1 Mia: The kitchen floor gave way under the fridge.",
        "│ ├ t2 Mia: Ravi bought a blue bicycle.",
        "│ ├ t3 Mia: The floor is being mended — für 900 €.",
        "│ │ t4 Mia: deeper",
    ]
    assert lines[-1] == "│ │ t2003 Mia: deeper"


def test_json_output_stands_alone_on_standard_output(filled: Cli) -> None:
    for command in ("turns", "placements", "times", "mentions", "records"):
        for printed in filled(command, "--space", SPACE, "--json").stdout.splitlines():
            assert isinstance(json.loads(printed), dict)
