"""From a path and a format to events for the log."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from infra.errors import UsageError
from infra.importers.beam import read_beam
from infra.importers.irc import read_irc
from infra.importers.jsonl import read_jsonl
from infra.importers.locomo import read_locomo
from infra.importers.turns import Imported
from schemas.space import Space


class Format(StrEnum):
    """The formats that can be imported."""

    JSONL = "jsonl"
    LOCOMO = "locomo"
    IRC = "irc"
    BEAM = "beam"


def read(path: Path, kind: Format, space: Space | None = None) -> Iterator[Imported]:
    """Give the events of a file or of a folder's files, in order, without loading a JSON-lines file whole.

    Raises:
        UsageError: if something can't be read as the format, or ``space`` is given for a set that carries its own.
    """
    if kind is Format.JSONL:
        return read_jsonl(path, space)
    if space is not None:
        msg = f"the format {kind} carries its own spaces: leave --space out"
        raise UsageError(msg)
    return {Format.LOCOMO: read_locomo, Format.IRC: read_irc, Format.BEAM: read_beam}[kind](path)
