"""Progress on standard error: a bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

from datetime import timedelta
from time import perf_counter  # noqa: TID251 - an estimate for people
from types import TracebackType
from typing import Final, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as RichProgress
from rich.text import Text

from infra.memory_api import Progress

_LINES: Final = 20
"""Lines that a run prints where there is no terminal: enough to see it move, few enough for a log."""
_ASKED_S: Final = 10
"""Seconds below which nobody asks how long it still takes."""


class _Rate(ProgressColumn):
    """Events a second, over the last half minute."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self._unit = unit

    def render(self, task: Task) -> Text:
        """Return the rate, or nothing before there is one."""
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f} {self._unit}/s", style="progress.data.speed")


class Bar:
    """Shows the progress of one piece of work. Appears with the first progress, so quick work shows nothing."""

    def __init__(self, console: Console, title: str, unit: str = "turns") -> None:
        self._console = console
        self._title = title
        self._unit = unit
        self._began = perf_counter()
        self._bar: RichProgress | None = None
        self._printed = 0

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the bar as it stands."""
        if self._bar is not None:
            self._bar.stop()

    def show(self, progress: Progress) -> None:
        """Show how far the work is."""
        if self._console.is_terminal:
            self._draw(progress)
        elif progress.total and progress.done * _LINES // progress.total > self._printed:
            self._printed = progress.done * _LINES // progress.total
            said = [f"{self._title}: {progress.done}/{progress.total}", self._left(progress), _lags(progress)]
            self._console.print(" ".join(filter(None, said)))

    def _left(self, progress: Progress) -> str:
        """Return how long the rest takes at the pace so far, where that is long enough to ask."""
        rest = (perf_counter() - self._began) / progress.done * (progress.total - progress.done)
        return f"about {timedelta(seconds=round(rest))} left" if rest > _ASKED_S else ""

    def _draw(self, progress: Progress) -> None:
        if self._bar is None:
            self._bar = _bar(self._console, self._unit)
            self._bar.add_task(self._title, total=progress.total, lags="")
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=progress.done, total=progress.total, lags=_lags(progress))


def _bar(console: Console, unit: str) -> RichProgress:
    return RichProgress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(unit),
        TimeRemainingColumn(),
        TextColumn("[dim]{task.fields[lags]}"),
        console=console,
        transient=True,
    )


def _lags(progress: Progress) -> str:
    """Return what waits before each stage, where something does."""
    return " ".join(f"{stage}:{lag}" for stage, lag in progress.lags.items() if lag)
