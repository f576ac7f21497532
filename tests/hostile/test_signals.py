"""Ctrl-C and SIGTERM in the middle of an ingest."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.importers import Format, read
from tests.fakes.folders import quick_folder
from tests.hostile.command import ROOT, ended, goes_on, ingest, run, start

CONVERSATION = ROOT / "infra" / "demo" / "conversation.jsonl"
(DEMO,) = {event.space_key for event in read(CONVERSATION, Format.JSONL)}
TURNS = 72
"""Two cuts and some: progress is told when the first is done."""

SIGNALS = {"Ctrl-C": signal.SIGINT, "SIGTERM": signal.SIGTERM}


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("chat") / "chat.jsonl"
    path.write_text("".join(CONVERSATION.read_text().splitlines(keepends=True)[:TURNS]))
    return path


def records(home: Path) -> str:
    return run(home, "records", "--space", DEMO, "--json").stdout


@pytest.fixture(scope="module")
def calm(chat: Path) -> Iterator[str]:
    with quick_folder() as folder:
        assert ingest(folder, chat).exit_code == 0
        yield records(folder)


def interrupted(home: Path, chat: Path, sent: signal.Signals) -> tuple[int, str, str]:
    """Ingest, and send a signal when a part of the turns is remembered."""
    with start(home, "ingest", str(chat), "--format", "jsonl") as process:
        assert process.stderr is not None
        heard = process.stderr.readline()
        assert heard.startswith("remembering: ")
        process.send_signal(sent)
        code, out, err = ended(process)
    return code, out, heard + err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("name", SIGNALS)
def test_signal_in_the_middle_of_an_ingest(name: str, chat: Path, calm: str) -> None:
    """Exit code 130 and a sentence, no traceback; the next run goes on, and memory is equal byte for byte."""
    with quick_folder() as folder:
        home = folder / "home"
        code, out, err = interrupted(home, chat, SIGNALS[name])
        assert (code, out) == (130, "")
        assert "Nothing is half done: the next run goes on where this one stopped." in " ".join(err.split())
        assert "Traceback" not in err
        done = run(home, "space", "inspect", DEMO, "--no-wait", "--json").stdout
        assert '"pending":0' not in done  # it was stopped before its end
        assert records(home) == calm
        again = ingest(home, chat)
        assert (again.exit_code, "committed=0" in again.stdout, f"duplicates={TURNS}" in again.stdout) == (
            0,
            True,
            True,
        )
        assert records(home) == calm
        goes_on(home, folder)


def test_output_is_closed_by_the_reader(chat: Path) -> None:
    """`anabranch records | head -1`: no traceback, and nothing is harmed."""
    with quick_folder() as folder:
        home = folder / "home"
        assert ingest(home, chat).exit_code == 0
        with start(home, "records", "--space", DEMO, "--json") as process:
            assert process.stdout is not None
            assert process.stdout.readline()
            process.stdout.close()
            assert process.stderr is not None
            assert "Traceback" not in process.stderr.read()
        goes_on(home, folder)
