"""The supervisor with real processes that end in every way a worker may."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from infra.workers.ends import LETTERED, STILL
from infra.workers.supervisor import Pace, Supervisor
from streams.watchdog import HUNG

UP = "import json, sys; print(json.dumps({'port': 1}), flush=True)\n"
LASTS = "import signal; signal.pause()\n"
OBEYS = "import signal, sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\n"
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"


def running(*lives: str) -> Callable[[int, Mapping[str, int]], Sequence[str]]:
    """Return the command of children whose successive lives are these programs; the last one is lived for ever."""

    def command(_number: int, restarts: Mapping[str, int]) -> Sequence[str]:
        return [sys.executable, "-c", lives[min(sum(restarts.values()), len(lives) - 1)]]

    return command


def told(caplog: pytest.LogCaptureFixture, event: str) -> list[logging.LogRecord]:
    return [record for record in caplog.records if getattr(record, "event", "") == event]


async def until(caplog: pytest.LogCaptureFixture, event: str, times: int = 1) -> None:
    async with asyncio.timeout(20):
        while len(told(caplog, event)) < times:  # noqa: ASYNC110 - another process speaks
            await asyncio.sleep(0.02)


@pytest.fixture(autouse=True)
def _loud(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "infra.workers")


async def test_whatever_ends_unasked_is_started_again_and_counted_by_its_cause(
    caplog: pytest.LogCaptureFixture,
) -> None:
    killed = UP + "import os; os.kill(os.getpid(), 9)"
    lives = (UP + "sys.exit(1)", killed, UP + f"sys.exit({HUNG})", UP + f"sys.exit({STILL})", UP + OBEYS + LASTS)
    supervisor = Supervisor("normalize", 1, running(*lives))
    work = asyncio.create_task(supervisor.run())
    await until(caplog, "up", 5)
    assert supervisor.restarts == {0: {"failed": 1, "SIGKILL": 1, "hung": 1, "no progress": 1}}
    assert [record.cause for record in told(caplog, "restarted")] == ["failed", "SIGKILL", "hung", "no progress"]  # type: ignore[attr-defined]
    os.kill(os.getpid(), signal.SIGTERM)
    assert await work == 0


async def test_sigterm_reaches_every_child_and_a_deaf_one_is_killed(caplog: pytest.LogCaptureFixture) -> None:
    def command(number: int, _restarts: Mapping[str, int]) -> Sequence[str]:
        return [sys.executable, "-c", (DEAF if number == 1 else OBEYS) + UP + "while True: signal.pause()"]

    work = asyncio.create_task(Supervisor("normalize", 3, command, grace=1.0).run())
    await until(caplog, "up", 3)
    begun = time.monotonic()
    os.kill(os.getpid(), signal.SIGTERM)
    assert await work == 0
    assert 1.0 <= time.monotonic() - begun < 10
    assert [record.child for record in told(caplog, "killed")] == [1]  # type: ignore[attr-defined]


@pytest.mark.parametrize("code", [2, 3, LETTERED])
async def test_what_another_start_cannot_mend_ends_all_with_its_code(
    code: int, caplog: pytest.LogCaptureFixture
) -> None:
    def command(number: int, _restarts: Mapping[str, int]) -> Sequence[str]:
        return [sys.executable, "-c", f"import sys; sys.exit({code})" if number else OBEYS + LASTS]

    async with asyncio.timeout(20):
        assert await Supervisor("normalize", 2, command).run() == code
    (given_up,) = told(caplog, "given up")
    assert given_up.child == 1  # type: ignore[attr-defined]
    assert told(caplog, "restarted") == []


async def test_a_service_that_goes_away_later_is_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    supervisor = Supervisor("normalize", 1, running(UP + "sys.exit(1)", "import sys; sys.exit(3)", UP + OBEYS + LASTS))
    work = asyncio.create_task(supervisor.run())
    await until(caplog, "up", 2)
    assert supervisor.restarts == {0: {"failed": 1, "exit code 3": 1}}
    os.kill(os.getpid(), signal.SIGINT)
    assert await work == 0


def test_pauses_double_to_half_a_minute_and_begin_anew_after_a_minute_of_life() -> None:
    pace = Pace()
    assert [round(pace.after(1), 1) for _ in range(10)] == [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0]
    assert [pace.after(60), pace.after(1)] == [0.2, 0.4]


def test_children_end_when_their_supervisor_is_killed(tmp_path: Path) -> None:
    child = "from infra.workers import leash; leash.hold(0, grace=1.0)\n" + DEAF + UP + "while True: signal.pause()"
    program = f"""
import asyncio, sys
from infra.workers.logs import to_stderr
from infra.workers.supervisor import Supervisor
to_stderr("normalize")
asyncio.run(Supervisor("normalize", 2, lambda number, restarts: [sys.executable, "-c", {child!r}]).run())
"""
    with (tmp_path / "log").open("w+") as log:
        supervisor = subprocess.Popen([sys.executable, "-c", program], stderr=log)
        try:
            pids = _pids(tmp_path / "log", 2)
        finally:
            supervisor.kill()
            supervisor.wait()
    end = time.monotonic() + 20
    while any(map(_lives, pids)):
        assert time.monotonic() < end, "a child without a supervisor lives on"
        time.sleep(0.05)


def _pids(log: Path, count: int) -> list[int]:
    end = time.monotonic() + 20
    while len(lines := [json.loads(line) for line in log.read_text().splitlines()]) < count:
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.05)
    assert {(line["event"], line["worker"], line["level"]) for line in lines} == {("up", "supervisor", "info")}
    return [line["pid"] for line in lines]


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return _answers(pid)
    return state != "Z"


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return not Path("/proc").is_dir()
