"""Every command against a small memory: what stands on standard output, and the exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from infra.cli.app import app
from infra.cli.session import Session
from infra.errors import HomeBusy, ModelMissing
from infra.settings import Settings
from schemas.interval import Grain, Interval, TimeMention
from schemas.localized import Placement, Rule, RunnerUp
from schemas.memory import CloseCause, ClosedRow, TurnDetail
from schemas.normalized import Attitude, Mention, Understanding
from schemas.space import Space
from schemas.span import Span
from schemas.turn import Turn
from stages.contract import Unavailable
from tests.fakes.memory import FakeMemory, turn_record

SPACE = "acme/mia"
Cli = Callable[..., Result]


def line(turn_id: str, text: str, **more: Any) -> dict[str, Any]:
    at = f"2026-03-01T18:{int(turn_id.removeprefix('t')):02}:00+01:00"
    return {"space": SPACE, "turn_id": turn_id, "speaker": {"id": "mia", "name": "Mia"}, "text": text, "at": at} | more


TURNS = [
    line("t1", "The kitchen floor gave way under the fridge."),
    line("t2", "Ravi bought a blue bicycle.", reply_to="t1"),
    line("t3", "The floor is being mended — für 900 €.", reply_to="t1"),
]


@pytest.fixture
def memory() -> FakeMemory:
    return FakeMemory()


@pytest.fixture
def cli(memory: FakeMemory, tmp_path: Path) -> Cli:
    session = Session(settings=lambda: Settings(home=tmp_path / "home", embedder="hash"), opener=lambda: memory.open)

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, list(arguments), obj=session)

    return run


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "chat.jsonl", *TURNS)


@pytest.fixture
def filled(cli: Cli, chat: Path) -> Cli:
    assert cli("ingest", str(chat), "--format", "jsonl").exit_code == 0
    return cli


def jsonl(path: Path, *values: Any) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return path


def objects(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    return [json.loads(printed) for printed in result.stdout.splitlines()]


def test_ingest_ends_with_the_sums_of_this_run(cli: Cli, chat: Path, memory: FakeMemory) -> None:
    first, second = (cli("ingest", str(chat), "--format", "jsonl") for _ in range(2))
    assert first.stdout == "published=3 committed=3 lettered=0 duplicates=0 forgotten=0 pending=0\n"
    assert second.stdout == "published=3 committed=0 lettered=0 duplicates=3 forgotten=0 pending=0\n"
    assert (first.exit_code, second.exit_code) == (0, 0)
    assert [key for key, _ in memory.log] == [SPACE] * 6


def test_lettered_turns_are_exit_code_4(cli: Cli, tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "bad.jsonl", TURNS[0], {"space": SPACE, "turn_id": "t9"}, line("t2", "x", space="other/one")
    )
    result = cli("ingest", str(path), "--format", "jsonl", "--space", SPACE)
    assert result.exit_code == 4
    assert result.stdout.splitlines()[-1] == "published=3 committed=1 lettered=2 duplicates=0 forgotten=0 pending=0"
    assert "letters list" in result.stderr


def test_what_an_earlier_run_left_pending_is_finished_and_not_counted(cli: Cli, chat: Path, memory: FakeMemory) -> None:
    memory.log.extend((SPACE, json.dumps(line(f"t{n}", "left over")).encode()) for n in (7, 8))
    result = cli("ingest", str(chat), "--format", "jsonl")
    assert result.stdout == "published=3 committed=3 lettered=0 duplicates=0 forgotten=0 pending=0\n"
    assert memory.sums().committed == 5


def test_a_stop_leaves_the_rest_pending_for_the_next_run(cli: Cli, chat: Path, memory: FakeMemory) -> None:
    def stop() -> None:
        if memory.done == 1:
            raise KeyboardInterrupt

    memory.pause = stop
    stopped = cli("ingest", str(chat), "--format", "jsonl")
    memory.pause = lambda: None
    assert (stopped.exit_code, stopped.stdout) == (130, "")
    assert "the next run goes on" in stopped.stderr
    assert [turn["state"] for turn in objects(cli("turns", "--space", SPACE, "--json"))] == ["committed"] * 3


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("ingest", "absent.jsonl", "--format", "jsonl"), "neither a file nor a folder"),
        (("ingest", "CHAT", "--format", "locomo", "--space", SPACE), "--space"),
        (("ingest", "CHAT", "--format", "pdf"), "pdf"),
        (("ingest", "CHAT", "--format", "jsonl", "--space", "no slash"), "tenant/space"),
        (("recall", "--space", SPACE), "--question or --questions"),
        (("recall", "--space", SPACE, "--question", "x", "--questions", "CHAT"), "--question or --questions"),
        (("recall", "--space", SPACE, "--questions", "absent"), "not a file"),
        (("recall", "--space", SPACE, "--questions", "CHAT"), "CHAT:1: question: Field required"),
        (("recall", "--space", SPACE, "--question", ""), "--question"),
        (("recall", "--space", SPACE, "--question", "x", "--k", "0"), "--k"),
        (("recall", "--space", SPACE, "--question", "x", "--asked-at", "2026-03-01T10:00"), "no offset"),
        (("recall", "--space", SPACE, "--question", "x", "--asked-at", "soon"), "no time"),
        (("recall", "--space", SPACE, "--question", "x", "--as-of", "yesterday"), "turn:ID"),
        (("recall", "--space", SPACE, "--question", "x", "--as-of", "turn:none"), "no committed turn"),
        (("context", "--space", SPACE), "--text or --inputs"),
        (("letters", "show", "nothing"), "0 letters"),
        (("turns",), "--space"),
    ],
)
def test_wrong_use_is_exit_code_2(cli: Cli, chat: Path, arguments: tuple[str, ...], told: str) -> None:
    result = cli(*(argument.replace("CHAT", str(chat)) for argument in arguments))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert told.replace("CHAT", str(chat)) in result.stderr


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ModelMissing("m", "not there", "fetch it"), "To bring it: fetch it"),
        (HomeBusy("in use by process 7"), "process 7"),
        (Unavailable("the index is silent"), "index is silent"),
    ],
)
def test_what_is_missing_is_exit_code_3(cli: Cli, chat: Path, memory: FakeMemory, error: Exception, told: str) -> None:
    def fail() -> None:
        raise error

    memory.pause = fail
    result = cli("ingest", str(chat), "--format", "jsonl")
    assert result.exit_code == 3
    assert told in result.stderr


def test_an_answer_that_fails_leaves_the_sums_of_what_is_pending(cli: Cli, chat: Path, memory: FakeMemory) -> None:
    def fail() -> None:
        if memory.done == 2:
            raise Unavailable

    memory.pause = fail
    result = cli("ingest", str(chat), "--format", "jsonl")
    assert result.stdout == "published=3 committed=2 lettered=0 duplicates=0 forgotten=0 pending=1\n"
    assert result.exit_code == 3


def test_recall_prints_a_line_a_question(filled: Cli, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "q.jsonl", {"id": 7, "question": "What about the kitchen floor?", "evidence": ["t1"]},
                 {"id": "b", "question": "bicycle", "asker": "mia", "asked_at": "2026-04-01T00:00:00Z"})  # fmt: skip
    first, second = objects(filled("recall", "--space", SPACE, "--questions", str(path), "--k", "2", "--json"))
    assert set(first) == {"id", "hits", "stale", "behind", "took_ms"}
    assert (first["id"], second["id"]) == (7, "b")
    assert [hit["turn_ids"] for hit in first["hits"]] == [["t1"], ["t3"]]
    assert set(first["hits"][0]) == {"record_id", "kind", "turn_ids", "speaker", "at", "text", "score", "why"}
    assert first["hits"][0]["speaker"] == "Mia"
    assert second["hits"][0]["why"] == {"words": 1.0}


def test_recall_for_people_is_a_table_without_colours_where_there_is_no_terminal(filled: Cli) -> None:
    result = filled("recall", "--space", SPACE, "--question", "kitchen floor")
    assert result.exit_code == 0
    assert "t1" in result.stdout
    assert "2026-03-01 18:01 +0100" in result.stdout
    assert "The kitchen floor gave way under the fridge." in result.stdout
    assert "\x1b" not in result.stdout


@pytest.mark.parametrize(
    ("as_of", "found"),
    [
        ("turn:t1", ["t1"]),
        ("position:1", ["t1"]),
        ("position:2", ["t1", "t3"]),
        ("time:2026-03-01T17:02:59Z", ["t1"]),
        ("time:2026-03-01T18:03:00+01:00", ["t1", "t3"]),
        ("time:2020-01-01T00:00:00Z", []),
    ],
)
def test_as_of_is_a_turn_a_time_or_a_position(filled: Cli, as_of: str, found: list[str]) -> None:
    (answer,) = objects(filled("recall", "--space", SPACE, "--question", "floor", "--as-of", as_of, "--json"))
    assert sorted(turn for hit in answer["hits"] for turn in hit["turn_ids"]) == found


def test_no_wait_looks_at_once_and_says_how_stale(filled: Cli, memory: FakeMemory) -> None:
    memory.log.append((SPACE, json.dumps(line("t4", "more floor")).encode()))
    (stale,) = objects(filled("recall", "--space", SPACE, "--question", "floor", "--no-wait", "--json"))
    (fresh,) = objects(filled("recall", "--space", SPACE, "--question", "floor", "--json"))
    assert (stale["stale"], stale["behind"], len(stale["hits"])) == (True, 1, 2)
    assert (fresh["stale"], fresh["behind"], len(fresh["hits"])) == (False, 0, 3)


def test_context_prints_the_bundle(filled: Cli, tmp_path: Path) -> None:
    (one,) = objects(filled("context", "--space", SPACE, "--text", "And then?", "--speaker", "mia", "--json"))
    assert set(one) == {"placement", "lines", "tokens"}
    assert one["placement"] == {
        "turn_id": None, "parent_turn_id": "t3", "other_parents": [], "rule": "ranked", "score": 7, "runners_up": []
    }  # fmt: skip
    assert set(one["lines"][0]) == {"part", "turn_ids", "at", "text", "tokens"}
    path = jsonl(
        tmp_path / "i.jsonl", {"id": "a", "text": "And?"}, {"id": "b", "text": "So?", "at": "2026-04-01T00:00:00Z"}
    )
    lines = objects(filled("context", "--space", SPACE, "--inputs", str(path), "--json"))
    assert [bundle["id"] for bundle in lines] == ["a", "b"]
    assert "continues t3 (ranked)" in filled("context", "--space", SPACE, "--text", "And then?").stdout


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


def test_letters_are_listed_and_shown(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_bytes(b'{"space": "acme/mia", "x": "\xff"}\n')
    cli("ingest", str(tmp_path / "bad.jsonl"), "--format", "jsonl")
    (letter,) = objects(cli("letters", "list", "--space", SPACE, "--json"))
    assert set(letter) == {"letter_id", "space", "turn_id", "position", "stage", "reason", "attempt"}
    assert objects(cli("letters", "list", "--space", "other/space", "--json")) == []
    (shown,) = objects(cli("letters", "show", letter["letter_id"][:6], "--json"))
    assert shown["original"] == '{"space": "acme/mia", "x": "\\xff"}'
    assert "original" in cli("letters", "show", letter["letter_id"]).stdout
    assert objects(cli("letters", "show", letter["letter_id"], "--space", SPACE, "--json")) == [shown]
    elsewhere = cli("letters", "show", letter["letter_id"], "--space", "other/space")
    assert (elsewhere.exit_code, "0 letters" in elsewhere.stderr) == (2, True)


def test_a_space_is_inspected(filled: Cli) -> None:
    (status,) = objects(filled("space", "inspect", SPACE, "--json"))
    assert (status["position"], status["watermark"], status["letters"]) == (2, 2, 0)
    assert status["sums"]["committed"] == 3
    assert status["stages"][0] == {"stage": "commit", "position": 2, "lag": 0, "state_bytes": 100, "vector_bytes": 0}
    assert "watermark  2" in filled("space", "inspect", SPACE).stdout


def test_schemas_are_exported(cli: Cli, tmp_path: Path) -> None:
    (printed,) = objects(cli("schemas", "export"))
    assert printed["turn"]["properties"]["turn_id"]["maxLength"] == 256
    assert cli("schemas", "export", str(tmp_path / "out")).exit_code == 0
    assert json.loads((tmp_path / "out" / "turn.json").read_text()) == printed["turn"]


def test_json_output_stands_alone_on_standard_output(filled: Cli) -> None:
    for command in ("turns", "placements", "times", "mentions", "records"):
        for printed in filled(command, "--space", SPACE, "--json").stdout.splitlines():
            assert isinstance(json.loads(printed), dict)
