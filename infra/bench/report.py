"""What a benchmark prints beside its figures, so that anybody can repeat them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from infra.memory_api import Sums


def provenance(console: Console, path: Path, model: str, sums: Sums) -> None:
    """Print the code's version, the model, a digest of the data, and the sums of the ingest."""
    console.print(f"anabranch {version('anabranch')}   model {model}   data {path.name} sha256 {digest(path)[:16]}")
    console.print(str(sums))


def digest(path: Path) -> str:
    """Return the SHA-256 over the files of a path, in the order of their names."""
    total = hashlib.sha256()
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            total.update(file.read_bytes())
    return total.hexdigest()


def table(console: Console, title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table; the first column names, the others count."""
    shown = Table(title=title, title_justify="left")
    for index, column in enumerate(columns):
        shown.add_column(column, justify="left" if index == 0 else "right")
    for row in rows:
        shown.add_row(*row)
    console.print(shown)


def keep(path: Path | None, answers: Iterable[Mapping[str, Any]]) -> None:
    """Write raw answers as JSON lines, if a path is given."""
    if path is not None:
        path.write_text("".join(json.dumps(answer, ensure_ascii=False, sort_keys=True) + "\n" for answer in answers))


def percent(share: float) -> str:
    """Return a share as a percentage."""
    return f"{100 * share:.1f}"


def lines(console: Console, told: Iterable[str]) -> None:
    """Print lines as they are."""
    for line in told:
        console.print(line, highlight=False, soft_wrap=True, markup=False)


def quantile(values: Sequence[float], part: float) -> float:
    """Return the value below which ``part`` of the values lie (0: there are none)."""
    return sorted(values)[min(len(values) - 1, int(part * len(values)))] if values else 0.0
