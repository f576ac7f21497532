"""JSON lines and tables on standard output, in which no text passes for anything but itself."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import typer
from rich.console import Console
from rich.table import Table

_ACTING: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What acts on a terminal or turns the direction of what stands beside it: controls, line separators, overrides and
isolates of bidirectional text. Joiners and single direction marks act on nothing around them and stay."""

_LINE_ENDS: Final = re.compile("[\x85\u2028\u2029]")
"""Line ends for some readers, which JSON lets stand as they are."""

_LONG: Final = frozenset({"text", "reason"})
"""Columns whose cells may have several lines."""


def spelled(text: str, *, lines: bool = False) -> str:
    """Return ``text`` for a terminal: characters that act there are spelled out, line feeds too unless ``lines``."""
    shown = _ACTING.sub(_escape, text)
    return shown if lines else shown.replace("\n", "\\n").replace("\t", "\\t")


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("ascii", "backslashreplace").decode() if found[0] > "\x7f" else f"\\x{ord(found[0]):02x}"


def json_line(value: Any) -> None:  # noqa: ANN401 - anything that JSON can hold
    """Print one value as canonical JSON (sorted keys, no spaces, UTF-8 whatever the terminal's encoding)."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    typer.echo(_LINE_ENDS.sub(lambda end: f"\\u{ord(end[0]):04x}", text).encode("utf-8", "replace"))


def json_lines(values: Iterable[Any]) -> None:
    """Print each value as a line."""
    for value in values:
        json_line(value)


def rows(values: Iterable[Mapping[str, Any]], columns: Sequence[str], *, as_json: bool) -> None:
    """Print mappings as JSON lines, or as a table of ``columns``; colours on a terminal only."""
    if as_json:
        json_lines(values)
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in columns:
        table.add_column(name.replace("_", " "), overflow="fold")
    for value in values:
        table.add_row(*(_cell(value.get(name), lines=name in _LONG) for name in columns))
    console().print(table)


def console() -> Console:
    """Return a console on the current standard output; wide where it is no terminal, so that nothing is cut."""
    out = Console(highlight=False, markup=False)
    return out if out.is_terminal else Console(highlight=False, markup=False, width=200)


def counted(count: int, one: str, more: str | None = None) -> str:
    """Return a count with its noun: "1 space", "2 spaces"; ``more`` where that is not ``one`` with an s."""
    return f"{count} {one if count == 1 else more or f'{one}s'}"


def when(at: datetime) -> str:
    """Return a time for people: to the minute, with its offset where that is not UTC."""
    zone = at.strftime("%z")
    return at.strftime("%Y-%m-%d %H:%M") + ("" if zone == "+0000" else f" {zone}")


def _cell(value: Any, *, lines: bool) -> str:  # noqa: ANN401 - anything that JSON can hold
    if value is None:
        return "-"
    if isinstance(value, (list, tuple, dict)):
        return spelled(json.dumps(value, ensure_ascii=False)) if value else "-"
    return spelled(str(value), lines=lines)
