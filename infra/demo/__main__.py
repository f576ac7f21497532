"""``make demo``: ingest the bundled conversation, ask it questions, show the evidence."""

from __future__ import annotations

import asyncio
import json
import sys
from importlib.resources import files
from pathlib import Path

from rich.console import Console

from infra.bootstrap import open_memory
from infra.cli.progress import Bar
from infra.errors import AnabranchError
from infra.importers import Format, publish, read
from infra.memory_api import Memory
from infra.settings import load_settings
from schemas.recall import Hit, Question
from schemas.space import Space

HOME = Path("demo-home").absolute()
SHOWN = 3
"""Hits shown a question: enough to see the evidence, few enough for a screen."""


async def demo(console: Console) -> None:
    """Fill ``demo-home`` with the conversation and print cited evidence for each bundled question."""
    settings = load_settings().embedded(HOME)
    folder = files("infra.demo")
    async with open_memory(settings) as memory:
        console.print("[bold]Ingest[/]: two people and an agent, five months, threads that are dropped and resumed")
        before = memory.sums()
        await publish(memory, read(Path(str(folder / "conversation.jsonl")), Format.JSONL))
        with Bar(console, "remembering") as bar:
            await memory.run(bar.show)
        console.print(str(memory.sums() - before), highlight=False)
        for line in (folder / "questions.jsonl").read_text().splitlines():
            await _ask(memory, json.loads(line), console)
    console.print(
        f"\nThe memory is in [bold]{HOME.name}[/]. Ask it more:\n"
        f'  ANABRANCH_HOME={HOME.name} .venv/bin/anabranch recall --space demo/harbour --question "Who is Elin?"\n'
        f"  ANABRANCH_HOME={HOME.name} .venv/bin/anabranch forest --space demo/harbour"
    )


async def _ask(memory: Memory, asked: dict[str, str], console: Console) -> None:
    question = Question.model_validate_json(
        json.dumps({key: asked[key] for key in ("id", "question", "asker", "asked_at")})
    )
    found = await memory.recall(Space("demo/harbour"), question)
    console.print(f"\n[bold]{asked['asker']}[/] asks: [bold]{asked['question']}[/]  [dim]({found.took_ms:.0f} ms)[/]")
    for hit in found.hits[:SHOWN]:
        console.print(_line(hit), markup=False, highlight=False)


def _line(hit: Hit) -> str:
    cited = ", ".join(hit.turn_ids)
    return f"  [{cited}] {hit.at:%d %b %Y}, {hit.speaker}: {' '.join(hit.text.split())[:200]}"


if __name__ == "__main__":
    try:
        asyncio.run(demo(Console()))
    except AnabranchError as error:
        sys.exit(f"anabranch: {error}")
