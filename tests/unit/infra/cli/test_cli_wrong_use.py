"""Wrong use of any command: exit code 2, nothing on standard output, and what was wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.command import SPACE, Cli


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
        (("bench", "kafka", "--shipped", "--qdrant", "absent"), "leave out --qdrant"),
        (("bench", "kafka", "--shipped", "--rate", "90"), "leave out --qdrant, --rate"),
        (("bench", "kafka", "--shipped", "--faults", "kill=1"), "--faults"),
    ],
)
def test_wrong_use_is_exit_code_2(cli: Cli, chat: Path, arguments: tuple[str, ...], told: str) -> None:
    result = cli(*(argument.replace("CHAT", str(chat)) for argument in arguments))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert told.replace("CHAT", str(chat)) in result.stderr
