"""Turns in our own shape, one JSON object a line. Lines are published as they are; the first stage judges them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from infra.errors import UsageError
from infra.importers.files import files, opened
from infra.importers.turns import Imported
from schemas.space import Space

_BOM: Final = b"\xef\xbb\xbf"


def read_jsonl(path: Path, space: Space | None) -> Iterator[Imported]:
    """Give every line that is not blank, keyed by ``space`` or by the space that it names.

    Raises:
        UsageError: at a line that names no space where ``space`` is not given.
    """
    for file in files(path, ".jsonl", ".ndjson"):
        with opened(file) as lines:
            for number, line in enumerate(lines, start=1):
                payload = line.removeprefix(_BOM if number == 1 else b"").strip(b" \t\r\n")
                if payload:
                    source = f"{file}:{number}"
                    yield Imported(space or _space(payload, source), payload, source)


def _space(payload: bytes, source: str) -> Space:
    """Return the space that a line names: its key in the log. Undecodable bytes elsewhere don't matter here."""
    try:
        turn = json.loads(payload.decode("utf-8", "surrogateescape"))
        space = turn.get("space") if isinstance(turn, dict) else None
    except (ValueError, RecursionError):
        space = None
    if not isinstance(space, str):
        msg = f"{source}: this line names no space; correct it, or give --space TENANT/SPACE, where it becomes a letter"
        raise UsageError(msg)
    try:
        return Space(space)
    except ValueError as error:
        msg = f"{source}: {error}; correct the line, or give --space TENANT/SPACE for all lines"
        raise UsageError(msg) from None
