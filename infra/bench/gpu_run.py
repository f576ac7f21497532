"""``bench gpu``: a language model on vLLM by Ray, ten sessions written with it; what views, nights and answers gain.

``--dry-run`` goes the same way on a processor: it prints what would be served, starts no GPU server, and asks the
language model that the settings name.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Final

from rich.console import Console

from infra.bench.answers_run import Wanted as Answers
from infra.bench.answers_run import run_first_answers
from infra.bench.model_process import ModelProcess
from infra.bench.nights_first import run_first_nights
from infra.bench.report import lines
from infra.bench.views_run import run_views
from infra.errors import MissingError, UsageError
from infra.settings import Settings

_START_S: Final = 600.0
"""Seconds for a start: vLLM loads some gigabytes and compiles."""
_CONTEXT: Final = 32_768
"""Tokens of the model's context: all turns of ten sessions, for the answers from the full context."""

_AT_ONCE: Final = 64
"""Calls at once: what a GPU batches is as fast as one alone."""

_ROOT: Final = Path(__file__).parents[2]
_now = time.monotonic  # noqa: TID251 - a server has a time to start, and a benchmark says how long it took


@dataclass(frozen=True, slots=True)
class Wanted:
    """``source`` is the model's folder or hub name, ``python`` an interpreter that has the extras serve and llm."""

    path: Path
    source: str
    sessions: int
    python: str = sys.executable
    dry: bool = False
    raw: Path | None = None


async def run_gpu(settings: Settings, wanted: Wanted, console: Console) -> bool:
    """Serve the model, write the sessions with it in each variant of views, and print what recall brings.

    Return whether the night kept its promises.

    Raises:
        MissingError: if there is no GPU that torch can use, or the server does not start.
        UsageError: if a dry run has no language model to ask.
    """
    begun = _now()
    with tempfile.TemporaryDirectory(prefix="anabranch-gpu-") as folder:
        file = _config(Path(folder), wanted)
        if wanted.dry:
            await _show(wanted, file)
            if settings.language_model is None:
                msg = "a dry run asks the model that ANABRANCH_LANGUAGE_MODEL names: name one"
                raise UsageError(msg)
            kept = await _measure(settings, wanted, console)
        else:
            console.print(f"GPU: {_gpu()}")
            async with _served(wanted, file) as address:
                console.print(f"{wanted.source} was up after {_now() - begun:.0f} s")
                named = {"language_model": f"openai:{address}#{wanted.source}", "model_concurrency": _AT_ONCE}
                kept = await _measure(settings.model_copy(update=named), wanted, console)
    console.print(f"all in all {_now() - begun:.0f} s")
    return kept


async def _measure(settings: Settings, wanted: Wanted, console: Console) -> bool:
    """Print all figures that want the model: what views bring, what a night does, how answers from memory score.

    Return whether the night kept its promises.

    They are made side by side: a space asks for one turn after the other, and time on a GPU is dear. What is to be
    measured beside them is a part more here, with a page of its own. Where a part fails, the others are printed first.
    """
    wide = settings if wanted.dry else settings.model_copy(update={"model_context": _CONTEXT})
    nights, answers = _page(console), _page(console)
    path, sessions = wanted.path, wanted.sessions
    ended = await asyncio.gather(
        run_views(settings, path, sessions, console, wanted.raw),
        run_first_nights(settings, path, sessions, nights, _beside(wanted.raw, "nights")),
        run_first_answers(wide, Answers(path, _beside(wanted.raw, "answers")), sessions, answers),
        return_exceptions=True,
    )
    for page in (nights, answers):
        lines(console, page.export_text().splitlines())
    for error in ended:
        if isinstance(error, BaseException):
            raise error
    return ended[1] is True


def _page(console: Console) -> Console:
    """Return a page as wide as a console, which is printed when all of it is there."""
    return Console(file=StringIO(), width=console.width, record=True)


def _beside(raw: Path | None, name: str) -> Path | None:
    return None if raw is None else raw.with_name(f"{raw.name}.{name}")


def _config(folder: Path, wanted: Wanted) -> Path:
    """Write what is to be served: the model, with most of a GPU's memory; Ray knows of no other that wants a part."""
    file = folder / "models.toml"
    named = json.dumps(wanted.source)  # a string of JSON is one of TOML
    file.write_text(
        f"[language]\nmodel = {named}\nsource = {named}\nat_once = {_AT_ONCE}\n"
        f"engine = {{ gpu_memory_utilization = 0.85, max_model_len = {_CONTEXT}, enable_prefix_caching = true }}\n"
    )
    return file


async def _show(wanted: Wanted, file: Path) -> None:
    """Print what would be served; a configuration that is wrong fails here."""
    command = [wanted.python, "-m", "infra.cli", "models", "serve", "--config", str(file), "--dry-run"]
    shown = await asyncio.create_subprocess_exec(*command, cwd=_ROOT)
    if await shown.wait():
        msg = "what would be served is wrong; see above"
        raise MissingError(msg)


def _gpu() -> str:
    """Return the name of the GPU.

    Raises:
        MissingError: if torch finds none.
    """
    import torch  # noqa: PLC0415 - takes seconds

    if not torch.cuda.is_available():
        msg = "there is no GPU that torch can use: run it where there is one, or with --dry-run"
        raise MissingError(msg)
    return str(torch.cuda.get_device_name())


@asynccontextmanager
async def _served(wanted: Wanted, file: Path) -> AsyncIterator[str]:
    """Give the address of the language model, served by a process of its own while this is open."""
    plane = ModelProcess(file.parent, ["--config", str(file)], python=wanted.python, longest=_START_S)
    await plane.start()
    try:
        yield f"{plane.url.removesuffix('/v1')}/language/v1"
    finally:
        await plane.stop()
