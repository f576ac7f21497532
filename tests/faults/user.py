"""What a user does and sees: a home with real SQLite, real Edge and real stages, over the API or the command line."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from infra.bootstrap import open_memory
from infra.cli.app import app
from infra.cli.session import Session
from infra.memory_api import Memory
from infra.models import HashEmbedder
from infra.settings import Settings
from schemas.memory import ITEM_KINDS, ChangedRow, ClosedRow, RecordKind, RecordRow
from schemas.recall import Hit, Question
from schemas.space import Space
from schemas.turn import Role, Speaker
from stages.ports import Embedder
from streams.codec import canonical

ROOT = Path(__file__).parents[2]
SPACE = Space("acme/mia")
MIA = Speaker(id="mia", name="Mia")
BOT = Speaker(id="pilot", name="Pilot", role=Role.AGENT)
START = datetime.fromisoformat("2026-03-01T18:00:00+01:00")


def turn(turn_id: str, text: str, speaker: Speaker = MIA, *, space: str = SPACE, day: float = 0, **more: Any) -> bytes:
    """Return a turn as a bot publishes it, ``day`` days after the start; ``more`` are its other fields."""
    said = {
        "space": space,
        "turn_id": turn_id,
        "speaker": speaker.model_dump(mode="json"),
        "text": text,
        "at": (START + timedelta(days=day)).isoformat(),
    }
    return json.dumps(said | more).encode()


def chatter(count: int, first: int = 0, *, space: str = SPACE, day: float = 1) -> list[bytes]:
    """Return turns that say nothing of anybody: working memory holds twenty messages, and these push it on."""
    return [
        turn(f"x{n}", f"Tram number {n} was late again.", space=space, day=day) for n in range(first, first + count)
    ]


@asynccontextmanager
async def opened(home: Path, embedder: Embedder | None = None, *, wait: bool = True) -> AsyncIterator[Memory]:
    """Open the memory of a home, with the hash embedder where no other is given."""
    settings = Settings(home=home, embedder="hash")
    async with open_memory(settings, wait=wait, embedder=embedder or HashEmbedder()) as memory:
        yield memory


async def tell(memory: Memory, *payloads: bytes, space: Space = SPACE) -> None:
    """Publish and process."""
    await memory.publish(space, payloads)
    await memory.run()


async def lived(home: Path, *payloads: bytes, space: Space = SPACE) -> list[str]:
    """Tell a home these turns and return the rows of its memory, as ``records --json`` prints them."""
    async with opened(home) as memory:
        await tell(memory, *payloads, space=space)
        return rows(memory, space)


def rows(memory: Memory, space: Space = SPACE) -> list[str]:
    """Return every row of a space as canonical JSON."""
    return [canonical(row) for row in memory.rows(space)]


def records(memory: Memory, *kinds: RecordKind, space: Space = SPACE) -> list[RecordRow]:
    """Return the records of these kinds (none: of all), oldest first."""
    found = [row for row in memory.rows(space) if isinstance(row, RecordRow) and (not kinds or row.kind in kinds)]
    return sorted(found, key=lambda row: (row.since, row.id))


def items(memory: Memory, space: Space = SPACE) -> list[RecordRow]:
    """Return what was taken from the turns."""
    return records(memory, *ITEM_KINDS, space=space)


def retired(memory: Memory, space: Space = SPACE) -> list[tuple[str, str | None]]:
    """Return the texts of what was closed or marked as changed, each with the text of its successor."""
    texts = {row.id: row.text for row in records(memory, space=space)}
    marks = [row for row in memory.rows(space) if isinstance(row, (ChangedRow, ClosedRow))]
    return [(texts[row.id], texts[row.successor] if row.successor else None) for row in marks]


async def hits(memory: Memory, question: str, *, space: Space = SPACE, **more: Any) -> list[Hit]:
    """Return the hits of a question, best first."""
    return list((await memory.recall(space, Question(question=question, **more))).hits)


async def cited(memory: Memory, question: str, *, space: Space = SPACE, **more: Any) -> list[str]:
    """Return the turns that a question finds, best first."""
    return [turn_id for hit in await hits(memory, question, space=space, **more) for turn_id in hit.turn_ids]


def cli(home: Path, *arguments: str, embedder: str = "hash", **more: str) -> Result:
    """Run a command on a home, in a thread: it has an event loop of its own; ``more`` are other settings."""
    session = Session(settings=lambda: Settings(home=home, embedder=embedder, **more))  # type: ignore[arg-type]  # by name, as the caller has them
    with ThreadPoolExecutor(1) as other:
        return other.submit(CliRunner().invoke, app, list(arguments), obj=session).result()


def printed(home: Path, *arguments: str, code: int = 0, **more: Any) -> list[dict[str, Any]]:
    """Run a command with ``--json`` on a home and return the objects that it prints."""
    result = cli(home, *arguments, "--json", **more)
    assert result.exit_code == code, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def jsonl(path: Path, payloads: Iterable[bytes]) -> str:
    """Write turns to a file and return its path."""
    path.write_bytes(b"".join(payload + b"\n" for payload in payloads))
    return str(path)


def child(home: Path, script: str, *arguments: bytes) -> dict[str, Any]:
    """Return the arguments of ``subprocess`` that run a script on a home, as another process of the user."""
    env = os.environ | {"ANABRANCH_HOME": str(home), "ANABRANCH_EMBEDDER": "hash"}
    command = [sys.executable, "-c", script, *(argument.decode() for argument in arguments)]
    return {"args": command, "cwd": ROOT, "env": env, "text": True}


async def ended(home: Path, script: str, *arguments: bytes) -> subprocess.CompletedProcess[str]:
    """Run a script on a home in another process to its end."""

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(**child(home, script, *arguments), capture_output=True, check=False, timeout=120)

    return await asyncio.to_thread(run)
