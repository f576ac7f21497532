"""Hostile files and arguments, by the real command line."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.folders import quick_folder
from tests.hostile.case import SPACE, turn
from tests.hostile.command import HERE, goes_on, ingest, lines, run, write

TELLS_NO_SPACE = b'{"turn_id": "t", "text": "lost"}'


@pytest.fixture
def folder() -> Iterator[Path]:
    with quick_folder() as made:
        yield made
        goes_on(made / "home", made)


def sums(printed: str) -> dict[str, int]:
    return {name: int(count) for name, count in (pair.split("=") for pair in printed.split("\n")[-2].split())}


def test_byte_order_mark_carriage_returns_and_empty_lines(folder: Path) -> None:
    """All lines that hold something are turns."""
    file = folder / "chat.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + b"\r\n\r\n \t\n".join([turn("a"), turn("b"), turn("c")]))
    done = ingest(folder / "home", file)
    assert (done.exit_code, sums(done.stdout)["committed"]) == (0, 3)


def test_last_line_is_truncated_in_a_file_with_its_own_spaces(folder: Path) -> None:
    """Exit code 2 names the line; nothing of the file is published."""
    done = ingest(folder / "home", write(folder / "chat.jsonl", turn("a"), turn("b")[:-20]))
    assert (done.exit_code, "chat.jsonl:2" in done.stderr, "--space" in done.stderr) == (2, True, True)
    assert sums(done.stdout)["published"] == 0


def test_last_line_is_truncated_in_a_file_for_one_space(folder: Path) -> None:
    """The line is a letter alone, the others are committed; exit code 4."""
    done = ingest(folder / "home", write(folder / "chat.jsonl", turn("a"), turn("b")[:-20]), "--space", SPACE)
    assert (done.exit_code, sums(done.stdout)["committed"], sums(done.stdout)["lettered"]) == (4, 1, 1)


def test_gzip_is_truncated(folder: Path) -> None:
    """Exit code 2 says that the file can't be read."""
    packed = gzip.compress(b"\n".join(turn(str(number), f"crane {number * 7919}") for number in range(200)))
    (folder / "chat.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    done = ingest(folder / "home", folder / "chat.jsonl.gz")
    assert (done.exit_code, "chat.jsonl.gz can't be read" in done.stderr) == (2, True)


def test_bad_line_after_the_first_4096(folder: Path) -> None:
    """Exit code 2 names the line; what is published already is told as pending, and the next command finishes it."""
    file = write(folder / "chat.jsonl", *[turn("a")] * 4100, TELLS_NO_SPACE)
    done = ingest(folder / "home", file)
    assert (done.exit_code, "chat.jsonl:4101" in done.stderr) == (2, True)
    assert (sums(done.stdout)["published"], sums(done.stdout)["pending"]) == (4096, 4096)
    (status,) = lines(run(folder / "home", "space", "inspect", SPACE, "--json"))
    assert (status["sums"]["committed"], status["sums"]["duplicates"], status["sums"]["pending"]) == (1, 4095, 0)


def test_malformed_lines_ingested_again(folder: Path) -> None:
    """Each is published and lettered again, under an id of its own: a letter stands for an event of the log."""
    file = write(folder / "chat.jsonl", turn("a"), turn("b", mood=1), b"{}")
    first, again = (ingest(folder / "home", file, "--space", SPACE) for _ in range(2))
    assert (first.exit_code, again.exit_code) == (4, 4)
    assert (sums(first.stdout)["lettered"], sums(again.stdout)["lettered"], sums(again.stdout)["duplicates"]) == (
        2,
        2,
        1,
    )
    letters = lines(run(folder / "home", "letters", "list", "--json"))
    assert len({letter["letter_id"] for letter in letters}) == 4
    assert [found["state"] for found in lines(run(folder / "home", "turns", *HERE, "--json"))] == [
        "committed",
        "lettered",
    ]


def test_a_space_of_another_tenant_under_a_given_key(folder: Path) -> None:
    """A letter in the space of the key; the other tenant's space stays empty."""
    done = ingest(folder / "home", write(folder / "chat.jsonl", turn("a", space="evil/u-1")), "--space", SPACE)
    assert (done.exit_code, sums(done.stdout)["lettered"]) == (4, 1)
    assert lines(run(folder / "home", "turns", "--space", "evil/u-1", "--json")) == []


AS_OF = (
    "position:\N{ARABIC-INDIC DIGIT THREE}",
    "position:\N{SUPERSCRIPT TWO}",
    "position:-1",
    "position:+1",
    "position: 1",
    "position:1e3",
    "position:",
    "position:" + "9" * 5000,
    "turn:",
    "turn:nobody",
    "turn:a\udcff",
    "time:",
    "time:2026",
    "time:2026-03-01T18:00:00",
    "TURN:a",
    "a",
    "",
)


@pytest.mark.parametrize("text", AS_OF, ids=[f"as-of {ascii(text)[1:20]}" for text in AS_OF])
def test_as_of_that_is_none(folder: Path, text: str) -> None:
    """Exit code 2 says how it is written, or that there is no such turn; nothing is printed."""
    ingest(folder / "home", write(folder / "chat.jsonl", turn("a")))
    asked = run(folder / "home", "recall", *HERE, "--question", "crane", "--as-of", text, "--json")
    assert (asked.exit_code, asked.stdout) == (2, "")
    assert "written turn:ID" in asked.stderr or "no committed turn" in asked.stderr or "write it like" in asked.stderr


@pytest.mark.parametrize(
    "text", ["time:0001-01-01T00:00:00+14:00", "time:9999-12-31T23:59:59-14:00", "position:" + "9" * 18]
)
def test_as_of_at_the_edges(folder: Path, text: str) -> None:
    """Nothing is known before the first turn, everything after the last."""
    ingest(folder / "home", write(folder / "chat.jsonl", turn("a")))
    (found,) = lines(run(folder / "home", "recall", *HERE, "--question", "crane", "--as-of", text, "--json"))
    assert [hit["turn_ids"] for hit in found["hits"]] == ([] if "0001" in text else [["a"]])


@pytest.mark.parametrize(
    "token", ["nobody", "a@1", "a@\N{SUPERSCRIPT TWO}", "a@", "@", "\udcff", "a\udcff", "x" * 5000]
)
def test_after_that_nobody_published(folder: Path, token: str) -> None:
    """The answer says that it is stale; exit code 0."""
    ingest(folder / "home", write(folder / "chat.jsonl", turn("a")))
    (found,) = lines(run(folder / "home", "recall", *HERE, "--question", "crane", "--after", token, "--json"))
    assert (found["stale"], found["behind"], len(found["hits"])) == (True, 0, 1)
    told = run(folder / "home", "recall", *HERE, "--question", "crane", "--after", token).stdout
    assert "stale: what --after names is not in memory yet" in told


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_questions_at_the_edges_of_the_calendar(folder: Path, at: str) -> None:
    """Answered; times that lie outside of the calendar are not looked for."""
    ingest(folder / "home", write(folder / "chat.jsonl", turn("a")))
    question = "Which crane did we paint last week, ten years ago, or the week after next?"
    (found,) = lines(run(folder / "home", "recall", *HERE, "--question", question, "--asked-at", at, "--json"))
    assert [hit["turn_ids"] for hit in found["hits"]] == [["a"]]


QUESTIONS = {
    "not JSON": b"crane?",
    "an array": b"[]",
    "blank": b'{"question": " "}',
    "a lone surrogate": b'{"question": "a \\ud800 crane"}',
    "bytes that are not UTF-8": b'{"question": "a \xff crane"}',
    "a time that is a number": b'{"question": "a crane?", "asked_at": "2026"}',
    "a time without zone": b'{"question": "a crane?", "asked_at": "2026-03-01T18:00:00"}',
    "an asker with a line feed": b'{"question": "a crane?", "asker": "a\\nb"}',
    "nested too deeply": b'{"question": ' + b"[" * 100_000,
    "a number of 5,000 digits": b'{"question": "a crane?", "n": ' + b"9" * 5000 + b"}",
}


@pytest.mark.parametrize("what", QUESTIONS)
def test_question_files(folder: Path, what: str) -> None:
    """Exit code 2 names file, line and fault."""
    ingest(folder / "home", write(folder / "chat.jsonl", turn("a")))
    file = write(folder / "questions.jsonl", json.dumps({"question": "crane"}).encode(), QUESTIONS[what])
    asked = run(folder / "home", "recall", *HERE, "--questions", str(file), "--json")
    assert (asked.exit_code, asked.stdout, f"{file}:2: " in asked.stderr) == (2, "", True)
