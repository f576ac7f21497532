"""The tables of ``bench bounds``, and what of them breaks a bound."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

from rich.console import Console

from infra.bench.bounds_pace import Pace
from infra.bench.bounds_readings import LIMIT, WRITTEN, Reading
from infra.bench.latency import Latency
from infra.bench.report import table


def print_readings(console: Console, name: str, readings: Sequence[Reading]) -> None:
    """Print a dialogue's readings: state by stage, then time, files and memory, then the largest beside its limit."""
    after = [f"{reading.turns:,}" for reading in readings]
    columns = ["stage", *(f"after {turns}" for turns in after), "vectors", *(f"written at {turns}" for turns in after)]
    columns.append("written in bulk")
    table(console, f"{name}: bytes of state, and bytes written of it a turn", columns, _states(readings))
    more = ["turns", "ms a turn", "in bulk", "journal", "index", "resident", "lettered"]
    table(
        console, f"{name}: time a turn told alone and in bulk, bytes on the disk for a new turn", more, _rest(readings)
    )
    console.print("\n".join(verdicts(readings)))


def _states(readings: Sequence[Reading]) -> Iterable[list[str]]:
    last = readings[-1]
    for at, stage in enumerate(last.stages):
        sizes = [f"{reading.stages[at].state_bytes:,}" for reading in readings]
        written = [f"{reading.alone.get(stage.stage, 0):,.0f}" for reading in readings]
        yield [
            stage.stage,
            *sizes,
            f"{stage.vector_bytes:,}",
            *written,
            f"{last.together.get(stage.stage, 0):,.0f}",
        ]


def _rest(readings: Sequence[Reading]) -> Iterable[list[str]]:
    for before, reading in zip([None, *readings], readings, strict=False):
        more = reading.turns - (before.turns if before else 0)
        yield [
            f"{reading.turns:,}",
            f"{reading.alone_ms:.1f}",
            f"{reading.together_ms:.1f}",
            f"{(reading.journal - (before.journal if before else 0)) / more:,.0f}",
            f"{(reading.index - (before.index if before else 0)) / more:,.0f}",
            f"{reading.resident / 2**20:.0f} MB",
            str(reading.lettered),
        ]


def holds(readings: Sequence[Reading]) -> bool:
    """Return whether no stage at any reading has or writes more than it may."""
    return _largest(readings)[0] <= LIMIT and _most_written(readings)[0] <= WRITTEN


def verdicts(readings: Sequence[Reading]) -> list[str]:
    """Return the largest state and the most written by any stage at any reading, each beside its limit."""
    size, name, turns = _largest(readings)
    most, writer, when = _most_written(readings)
    state = f"the largest state has {size:,} bytes ({name} at {turns:,} turns; limit {LIMIT:,})"
    written = f"a turn told alone writes {most:,.0f} bytes at most ({writer} at {when:,} turns; limit {WRITTEN:,})"
    return [f"{_said(holds=size <= LIMIT)}: {state}", f"{_said(holds=most <= WRITTEN)}: {written}"]


def _largest(readings: Sequence[Reading]) -> tuple[int, str, int]:
    return max((s.state_bytes, s.stage, r.turns) for r in readings for s in r.stages)


def _most_written(readings: Sequence[Reading]) -> tuple[float, str, int]:
    return max((one, stage, r.turns) for r in readings for stage, one in r.alone.items())


def _said(*, holds: bool) -> str:
    return "holds" if holds else "BROKEN"


def print_pace(console: Console, pace: Pace) -> None:
    """Print how much longer a turn takes after many turns than after few: over all slices, and the least and most."""
    few, many = f"{pace.few:,}", f"{pace.many:,}"
    rows = [[how, *_paces(slices)] for how, slices in (("in bulk", pace.bulk), ("alone", pace.alone))]
    columns = ["told", f"ms a turn after {few}", f"ms a turn after {many}", "ratio", "in slices"]
    table(console, f"{pace.name}: time a turn in two spaces, told side by side", columns, rows)


def _paces(slices: Sequence[tuple[float, float]]) -> list[str]:
    young, old = (fmean(times) for times in zip(*slices, strict=True))
    ratios = sorted(after / before for before, after in slices)
    return [f"{young:.1f}", f"{old:.1f}", f"{old / young:.2f}", f"{ratios[0]:.2f} to {ratios[-1]:.2f}"]


def print_recalls(console: Console, recalls: Iterable[tuple[str, Latency]]) -> None:
    """Print how long recalls took beside one query embedding of the same run."""
    rows = [
        [name, str(one.turns), f"{one.recall:.1f}", f"{one.embedding:.2f}", f"{one.recall / one.embedding:.1f}"]
        for name, one in recalls
    ]
    columns = ["home", "turns a space", "recall p50 ms", "embedding p50 ms", "ratio"]
    table(console, "Recall at k=10, beside the embedding of one question", columns, rows)
