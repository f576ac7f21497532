"""JSON lines and tables on standard output."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import typer
from rich.console import Console
from rich.table import Table


def json_line(value: Any) -> None:  # noqa: ANN401 - anything that JSON can hold
    """Print one value as canonical JSON (sorted keys, no spaces, UTF-8 whatever the terminal's encoding)."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    typer.echo(text.encode("utf-8", "replace"))


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
        table.add_row(*(_cell(value.get(name)) for name in columns))
    console().print(table)


def console() -> Console:
    """Return a console on the current standard output; wide where it is no terminal, so that nothing is cut."""
    out = Console(highlight=False, markup=False)
    return out if out.is_terminal else Console(highlight=False, markup=False, width=200)


def when(at: datetime) -> str:
    """Return a time for people: to the minute, with its offset where that is not UTC."""
    zone = at.strftime("%z")
    return at.strftime("%Y-%m-%d %H:%M") + ("" if zone == "+0000" else f" {zone}")


def _cell(value: Any) -> str:  # noqa: ANN401 - anything that JSON can hold
    if value is None:
        return "-"
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(value, ensure_ascii=False) if value else "-"
    return str(value)
