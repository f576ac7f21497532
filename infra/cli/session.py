"""What every command shares: settings, the memory behind it, running and stopping."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import typer
from rich.console import Console

from infra.cli.progress import Bar
from infra.memory_api import Memory, Opener
from infra.settings import Settings, load_settings

T = TypeVar("T")

INTERRUPTED: Final = 130
"""128 + SIGINT, as shells expect."""


def _open_memory() -> Opener:
    from infra.bootstrap import open_memory  # noqa: PLC0415 - `--help` and `schemas` must not load index and models

    return open_memory


@dataclass(slots=True)
class Session:
    """Where commands get settings and memory from; tests give their own."""

    settings: Callable[[], Settings] = load_settings
    opener: Callable[[], Opener] = _open_memory
    messages: Console = field(default_factory=lambda: Console(stderr=True))

    @contextlib.asynccontextmanager
    async def memory(self, *, wait: bool) -> AsyncIterator[Memory]:
        """Open the memory; with ``wait`` what is pending is processed first, with progress on standard error."""
        async with contextlib.AsyncExitStack() as stack:
            with Bar(self.messages, "catching up") as bar:
                opened = self.opener()(self.settings(), wait=wait, progress=bar.show)
                memory = await stack.enter_async_context(opened)
            yield memory

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a command's work to its end, or to Ctrl-C or SIGTERM."""
        try:
            return asyncio.run(_until_stopped(work))
        except (KeyboardInterrupt, asyncio.CancelledError):
            self.messages.print("Stopped. Nothing is half done: the next run goes on where this one stopped.")
            raise typer.Exit(INTERRUPTED) from None


async def _until_stopped(work: Coroutine[Any, Any, T]) -> T:
    """Let SIGTERM do what Ctrl-C does: cancel the work, so that it closes what it opened."""
    task = asyncio.ensure_future(work)
    with contextlib.suppress(NotImplementedError, RuntimeError):  # Windows; a loop that is not in the main thread
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await task


def session_of(context: typer.Context) -> Session:
    """Return the session of the running command."""
    session: Session = context.obj
    return session
