"""Keeps a number of worker processes of one stage running."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from infra.workers.ends import cause_of, needs_a_person

GRACE: Final = 25.0
"""Seconds from SIGTERM to SIGKILL: what is in hand takes a few; a broker that does not answer is not waited for."""
_FIRST: Final = 0.2
_LONGEST: Final = 30.0
_SOUND: Final = 60.0
"""Seconds of life after which an end is taken for the first one again."""

_log = logging.getLogger(__name__)
Command = Callable[[int, Mapping[str, int]], Sequence[str]]


@dataclass
class Pace:
    """How long (s) to wait before a process is started again: doubling, until one has lived for a while."""

    first: float = _FIRST
    _next: float | None = None

    def after(self, life: float) -> float:
        """Return the pause after a life of so many seconds."""
        pause = self.first if self._next is None or life >= _SOUND else self._next
        self._next = min(_LONGEST, 2 * pause)
        return pause


@dataclass
class Supervisor:
    """Runs ``workers`` children until it is told to end, or one of them ends in a way that a person must look at.

    ``command`` gives the command line of a child from its number and its restarts by cause. A child writes a line
    with its port to standard output when it works; it holds its standard input, and ends when that is closed.
    """

    stage: str
    workers: int
    command: Command
    grace: float = GRACE
    code: int = 0
    restarts: dict[int, Counter[str]] = field(default_factory=dict)
    _live: dict[int, Process] = field(default_factory=dict)
    _ending: asyncio.Event = field(default_factory=asyncio.Event)
    _was_up: bool = False

    async def run(self) -> int:
        """Keep the children running; return the exit code of the whole."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, self._ending.set)
        keeping = [asyncio.create_task(self._keep(number)) for number in range(self.workers)]
        ending = asyncio.create_task(self._ending.wait())
        await asyncio.wait([ending, *keeping], return_when=asyncio.FIRST_COMPLETED)
        self._ending.set()
        await self._end(keeping)
        return self.code

    async def _end(self, keeping: Sequence[asyncio.Task[None]]) -> None:
        for process in self._live.values():
            _signal(process, signal.SIGTERM)
        _, left = await asyncio.wait(keeping, timeout=self.grace)
        for number, process in list(self._live.items()) if left else ():
            _log.error("worker %d did not end and is killed", number, extra={"event": "killed", "child": number})
            _signal(process, signal.SIGKILL)
        await asyncio.gather(*keeping)

    async def _keep(self, number: int) -> None:
        loop, pace = asyncio.get_running_loop(), Pace()
        restarts = self.restarts.setdefault(number, Counter())
        while not self._ending.is_set():
            begun = loop.time()
            code = await self._live_of(number, restarts)
            if self._ending.is_set():
                return
            if needs_a_person(code, was_up=self._was_up):
                self._give_up(number, code)
                return
            pause = pace.after(loop.time() - begun)
            restarts[cause_of(code)] += 1
            self._tell(number, code, pause)
            await self._sleep(pause)

    async def _live_of(self, number: int, restarts: Mapping[str, int]) -> int:
        process = await asyncio.create_subprocess_exec(
            *self.command(number, restarts),
            stdin=PIPE,
            stdout=PIPE,
            start_new_session=True,  # Ctrl-C reaches the supervisor alone, which passes it on
        )
        self._live[number] = process
        if self._ending.is_set():
            _signal(process, signal.SIGTERM)
        await self._listen(number, process)
        code = await process.wait()
        del self._live[number]
        return code

    async def _listen(self, number: int, process: Process) -> None:
        assert process.stdout is not None  # noqa: S101 - asked for above
        async for line in process.stdout:
            told = {"event": "up", "child": number, "pid": process.pid, "port": json.loads(line)["port"]}
            _log.info("worker %d works", number, extra=told)
            self._was_up = True

    async def _sleep(self, pause: float) -> None:
        try:
            await asyncio.wait_for(self._ending.wait(), pause)
        except TimeoutError:
            return

    def _give_up(self, number: int, code: int) -> None:
        said = {"event": "given up", "child": number, "code": code}
        _log.error("worker %d ended with code %d: another start would end the same", number, code, extra=said)
        self.code = self.code or code
        self._ending.set()

    def _tell(self, number: int, code: int, pause: float) -> None:
        restarts = sum(self.restarts[number].values())
        said = {"event": "restarted", "child": number, "cause": cause_of(code), "code": code, "times": restarts}
        _log.warning("worker %d ended (%s); again in %.1f s", number, cause_of(code), pause, extra=said)


def _signal(process: Process, number: signal.Signals) -> None:
    if process.returncode is None:
        process.send_signal(number)
