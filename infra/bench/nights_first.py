"""``bench consolidation`` on the first sessions of one conversation, for what a language model writes and decides."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from infra.bench.nights_run import run_nights
from infra.bench.question_sets import conversations
from infra.bench.report import lines
from infra.bench.views_run import first_sessions
from infra.importers import Format
from infra.settings import Settings

_SESSION: Final = re.compile(r"session_(\d+)")


async def run_first_nights(settings: Settings, path: Path, sessions: int, console: Console, raw: Path | None) -> bool:
    """Write the first sessions, ask, consolidate, ask, take it back, ask; return whether all promises were kept.

    Questions are those that rest on these sessions alone, as ``bench views`` asks them.

    Raises:
        UsageError: if there are none.
    """
    part = cut(path, sessions)
    lines(console, [f"a night of {settings.language_model or 'rules'}"])
    with tempfile.TemporaryDirectory(prefix="anabranch-bench-") as folder:
        file = Path(folder) / f"first-{sessions}-of-{path.name}.json"
        file.write_text(json.dumps([part]))
        return await run_nights(settings, file, Format.LOCOMO, console, raw)


def cut(path: Path, sessions: int) -> Mapping[str, Any]:
    """Return the first conversation as it is, less its later sessions and the questions that rest on any of those.

    Raises:
        UsageError: if no question is left.
    """
    sample = next(conversations(path))
    asked = {int(one.id.rpartition("#")[2]) for one in first_sessions(path, sessions).questions}
    told = {name: value for name, value in sample["conversation"].items() if not _is_later(name, sessions)}
    return {**sample, "conversation": told, "qa": [qa for n, qa in enumerate(sample["qa"]) if n in asked]}


def _is_later(name: str, sessions: int) -> bool:
    found = _SESSION.match(name)
    return found is not None and int(found[1]) > sessions
