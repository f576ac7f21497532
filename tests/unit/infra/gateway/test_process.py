"""``anabranch serve`` as a process: killed while bots publish, started again, asked to end while they publish."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from infra.bootstrap import open_memory
from infra.errors import MissingError
from infra.gateway.keys import KeyFile
from infra.gateway.server import serve
from infra.home import owner
from infra.settings import Settings
from schemas.space import Space
from tests.fakes.gateway import keyed, settings_of, spoken

ROOT = Path(__file__).resolve().parents[4]


@contextmanager
def started(settings: Settings, log: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the command; give the process and its address."""
    environment = {"ANABRANCH_HOME": str(settings.home), "ANABRANCH_EMBEDDER": "hash", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "infra.cli", "serve", "--port", "0"]
    with (
        log.open("w") as errors,
        subprocess.Popen(
            command, env=os.environ | environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        try:
            assert process.stdout is not None
            told = re.fullmatch(r"The gateway answers on (http://127\.0\.0\.1:\d+)\n", process.stdout.readline())
            assert told, log.read_text()
            yield process, told[1]
        finally:
            process.kill()


@dataclass
class Crowd:
    """Bots that publish turn after turn until the gateway is gone; ``wave`` sets their turn ids apart."""

    url: str
    headers: dict[str, str]
    wave: str
    accepted: list[tuple[str, str]] = field(default_factory=list)
    attempts: list[tuple[str, str]] = field(default_factory=list)

    def client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=self.url, headers=self.headers, timeout=30)

    async def until(self, process: subprocess.Popen[str], end: signal.Signals, wanted: int = 30) -> None:
        """Send the process a signal while they publish."""
        async with self.client() as client:
            going = [asyncio.create_task(self._bot(client, number)) for number in range(9)]
            while len(self.accepted) < wanted:
                assert not all(bot.done() for bot in going)
                await asyncio.sleep(0.02)
            process.send_signal(end)
            await asyncio.gather(*going)

    async def _bot(self, client: httpx.AsyncClient, number: int) -> None:
        turn = 0
        while True:
            said = (f"s{number % 3}", f"{self.wave}{number}:{turn}")
            turn += 1
            self.attempts.append(said)
            try:
                answer = await self.publish(client, said)
            except httpx.HTTPError:
                return
            assert answer.status_code == 202
            self.accepted.append(said)

    async def publish(self, client: httpx.AsyncClient, said: tuple[str, str]) -> httpx.Response:
        return await client.post(f"/v1/spaces/acme/{said[0]}/turns", json=spoken(said[1], f"I am {said[1]}."))


async def checked(first: Crowd, url: str) -> None:
    """Every accepted turn is there; what had no answer is sent again, and then there too."""
    first.url = url
    async with first.client() as client:
        for space, name in first.attempts:
            if (space, name) not in first.accepted:
                assert (await first.publish(client, (space, name))).status_code == 202
            answer = await client.get(f"/v1/spaces/acme/{space}/turns/{name}")
            assert answer.status_code == 200, name
        body = {"question": f"Who is {first.attempts[-1][1]}?", "after": first.attempts[-1][1]}
        answer = await client.post(f"/v1/spaces/acme/{first.attempts[-1][0]}/recall", json=body)
        assert answer.json()["stale"] is False


def test_killed_while_bots_publish_and_ended_while_they_publish(tmp_path: Path) -> None:
    settings, log = settings_of(tmp_path), tmp_path / "second.log"
    headers = keyed(settings)
    with started(settings, tmp_path / "first.log") as (process, url):
        first = Crowd(url, headers, "a")
        asyncio.run(first.until(process, signal.SIGKILL))
    with started(settings, log) as (process, url):
        assert owner(settings.home) == str(process.pid)
        asyncio.run(checked(first, url))
        second = Crowd(url, headers, "b")
        asyncio.run(second.until(process, signal.SIGTERM))
        assert process.wait(30) == 0
    assert owner(settings.home) is None
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert {"started", "request", "ended"} <= {event["event"] for event in events}
    assert {event["tenant"] for event in events if event["event"] == "request"} == {"acme"}
    there = asyncio.run(remembered(settings))
    said = {*first.attempts, *second.accepted}
    assert said <= there.keys()
    assert {there[one] for one in said} == {1}


async def remembered(settings: Settings) -> dict[tuple[str, str], int]:
    """Return how often each turn is in memory."""
    found: dict[tuple[str, str], int] = {}
    async with open_memory(settings) as memory:
        for name in ("s0", "s1", "s2"):
            rows: list[Any] = list(memory.rows(Space(f"acme/{name}")))
            for row in rows:
                if row.row == "outcome" and row.state == "committed":
                    found[name, row.event_id] = found.get((name, row.event_id), 0) + 1
    return found


async def test_a_port_that_is_taken_is_told_before_the_home_is_opened(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(MissingError, match="choose another with --host and --port"),
    ):
        await serve(settings, "127.0.0.1", taken.getsockname()[1], lambda _address: None)
    assert not settings.home.exists()
    assert KeyFile(settings.key_file).every() == []
