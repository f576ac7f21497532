"""``bench model``: what a language model costs a turn: calls, tokens, and how much of a prompt is the shared prefix."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from rich.console import Console

from infra.bench.report import lines, percent, provenance, table
from infra.bootstrap import open_embedded
from infra.cli.progress import Bar
from infra.embedders import make_embedder
from infra.errors import UsageError
from infra.importers import Format, publish, read
from infra.settings import Settings
from streams.metrics import ModelCounts, ModelUse, Outcome

MOST_CALLS: Final = 2.0
"""Calls a turn that a budget allows on average: one for z_t, half of one for views, a fifth for the routers."""


async def run_model(settings: Settings, path: Path, kind: Format, turns: int, console: Console) -> bool:
    """Write the first turns of a set with the language model; return whether nothing was lost and the budget held.

    Raises:
        UsageError: if no language model is set.
    """
    if settings.language_model is None:
        msg = "this asks a language model: name one in ANABRANCH_LANGUAGE_MODEL"
        raise UsageError(msg)
    counts = ModelCounts()
    embedder = make_embedder(settings.embedder, threads=settings.threads, key=settings.embedder_key)
    with tempfile.TemporaryDirectory(prefix="anabranch-bench-") as folder:
        async with open_embedded(settings.embedded(Path(folder)), embedder, counts) as memory:
            await publish(memory, islice(read(path, kind), turns))
            with Bar(console, "ingest") as bar:
                await memory.run(bar.show)
            sums = memory.sums()
    provenance(console, path, f"{settings.language_model}, {embedder.model}", sums)
    by_stage = _by_stage(counts)
    table(console, f"A turn of {sums.committed}", _COLUMNS, _rows(by_stage, sums.committed))
    calls = sum(use.calls for use in by_stage.values()) / max(sums.committed, 1)
    lines(console, [f"calls a turn {calls:.2f} (at most {MOST_CALLS:.0f}); lost {sums.pending + sums.lettered}"])
    return calls <= MOST_CALLS and not sums.pending + sums.lettered


_COLUMNS: Final = (
    *("stage", "calls", "tokens in", "tokens out", "shared prefix, % of prompt", "s a call"),
    *(outcome.value for outcome in Outcome),
)


def _by_stage(counts: ModelCounts) -> dict[str, ModelUse]:
    """Return what each stage asked, all tenants together."""
    total: dict[str, ModelUse] = {}
    for (stage, _tenant), use in counts.uses.items():
        whole = total.setdefault(stage, ModelUse())
        for name in ("calls", "seconds", "prompt_tokens", "answer_tokens", "prefix_bytes", "data_bytes"):
            setattr(whole, name, getattr(whole, name) + getattr(use, name))
        whole.outcomes.update(use.outcomes)
    return total


def _rows(by_stage: Mapping[str, ModelUse], turns: int) -> list[Sequence[str]]:
    return [
        (
            stage,
            f"{use.calls / turns:.2f}",
            f"{use.prompt_tokens / turns:.0f}",
            f"{use.answer_tokens / turns:.0f}",
            percent(use.prefix_bytes / max(use.prefix_bytes + use.data_bytes, 1)),
            f"{use.seconds / max(use.calls, 1):.2f}",
            *(str(use.outcomes[outcome]) for outcome in Outcome),
        )
        for stage, use in sorted(by_stage.items())
    ]
