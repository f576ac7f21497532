"""``bench``: measurements, each with its baselines in the same run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from infra.cli import output
from infra.cli.session import session_of
from infra.errors import UsageError
from infra.importers import Format
from streams.topology import FLOW

FAULTS = ("kill", "join", "leave", "freeze", "broker", "index")

benchmarks = typer.Typer(help="Benchmarks with their baselines.", no_args_is_help=True)

Data = Annotated[Path, typer.Argument(help="The set: a file, or a folder of such files.")]
Raw = Annotated[Path | None, typer.Option("--raw", help="Write every raw answer there, as JSON lines.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(benchmarks, name="bench")


@benchmarks.command(epilog="Example: anabranch bench locomo ../shared/data/locomo")
def locomo(context: typer.Context, path: Data, raw: Raw = None) -> None:
    """Evidence recall on LoCoMo by category number, beside recent turns, BM25 and dense search."""
    from infra.bench.evidence_run import run_locomo  # noqa: PLC0415 - `--help` must not load index and models

    session = session_of(context)
    session.run(run_locomo(session.settings(), path, output.console(), raw))


@benchmarks.command(epilog="Example: anabranch bench beam ../shared/data/beam")
def beam(context: typer.Context, path: Data, raw: Raw = None) -> None:
    """Source recall on BEAM by ability, beside recent turns, BM25 and dense search."""
    from infra.bench.evidence_run import run_beam  # noqa: PLC0415

    session = session_of(context)
    session.run(run_beam(session.settings(), path, output.console(), raw))


@benchmarks.command(epilog="Example: anabranch bench irc ../shared/data/irc/dev.tar.gz")
def irc(context: typer.Context, path: Data, raw: Raw = None) -> None:
    """Reply links and conversations of IRC channels, beside the addressee rule and the previous message."""
    from infra.bench.irc_run import run_irc  # noqa: PLC0415

    session = session_of(context)
    session.run(run_irc(session.settings(), path, output.console(), raw))


@benchmarks.command(epilog="Example: anabranch bench ingest ../shared/data/locomo --turns 2000")
def ingest(
    context: typer.Context,
    path: Data,
    kind: Annotated[Format, typer.Option("--format", help="What the file holds.")] = Format.LOCOMO,
    turns: Annotated[int | None, typer.Option("--turns", min=1, help="At most so many turns; unset: all.")] = None,
) -> None:
    """Ingest against the bare encoder on the same texts, both warm, in one run."""
    from infra.bench.ingest_run import run_ingest  # noqa: PLC0415

    session = session_of(context)
    session.run(run_ingest(session.settings(), path, kind, turns, output.console()))


@benchmarks.command(epilog="Example: anabranch bench reindex ../shared/data/locomo --turns 2000")
def reindex(
    context: typer.Context,
    path: Data,
    kind: Annotated[Format, typer.Option("--format", help="What the file holds.")] = Format.LOCOMO,
    turns: Annotated[int | None, typer.Option("--turns", min=1, help="At most so many turns; unset: all.")] = None,
) -> None:
    """Re-embedding of a memory against the bare encoder on the same texts, both warm, in one run."""
    from infra.bench.reindex_run import run_reindex  # noqa: PLC0415

    session = session_of(context)
    session.run(run_reindex(session.settings(), path, kind, turns, output.console()))


@benchmarks.command(epilog="Example: anabranch bench consolidation ../shared/data/locomo --format locomo")
def consolidation(
    context: typer.Context,
    path: Data,
    kind: Annotated[Format, typer.Option("--format", help="What the file holds: locomo or beam.")] = Format.LOCOMO,
    raw: Raw = None,
) -> None:
    """Recall before a night of consolidation, after it, and after it was taken back. Exit code 1 if it broke a promise.

    Live source records never grow, a second night decides nothing, recall at 10 loses at most half a point, and what is
    shown after undo is what was shown before.
    """
    from infra.bench.nights_run import run_nights  # noqa: PLC0415

    session = session_of(context)
    if not session.run(run_nights(session.settings(), path, kind, output.console(), raw)):
        raise typer.Exit(1)


@benchmarks.command(epilog="Example: anabranch bench merges ../shared/data/locomo --pairs tests/data/merge_pairs.jsonl")
def merges(
    context: typer.Context,
    path: Data,
    pairs: Annotated[Path, typer.Option("--pairs", help="Labelled pairs of records, as JSON lines.")],
    kind: Annotated[Format, typer.Option("--format", help="What the file holds.")] = Format.LOCOMO,
    turns: Annotated[int, typer.Option("--turns", min=1, help="At most so many turns.")] = 1000,
) -> None:
    """From which cosine on consolidation should look at two records: what each threshold proposes, joins and misses."""
    from infra.bench.merges_run import run_merges  # noqa: PLC0415

    session = session_of(context)
    session.run(run_merges(session.settings(), path, pairs, kind, turns, output.console()))


@benchmarks.command(epilog="Example: anabranch bench bounds --locomo ../shared/data/locomo --turns 10000")
def bounds(
    context: typer.Context,
    *,
    locomo: Annotated[Path | None, typer.Option("--locomo", help="Two-party chats; unset: made by rule.")] = None,
    beam: Annotated[Path | None, typer.Option("--beam", help="Chats with an assistant; unset: made by rule.")] = None,
    irc: Annotated[Path | None, typer.Option("--irc", help="Logs of channels; unset: made by rule.")] = None,
    turns: Annotated[int, typer.Option("--turns", min=100, help="Turns of a space at the end.")] = 10_000,
) -> None:
    """State, what is written of it, time, files and memory as a space grows, and recall in large and many spaces.

    Exit code 1 if a bound of state is broken.
    """
    from infra.bench.bounds_dialogues import dialogues  # noqa: PLC0415
    from infra.bench.bounds_run import run_bounds  # noqa: PLC0415

    session = session_of(context)
    told = dialogues(turns, locomo, beam, irc)
    if not session.run(run_bounds(session.settings(), told, turns, output.console())):
        raise typer.Exit(1)


@benchmarks.command(
    epilog="Example: anabranch bench kafka --turns 20000 --spaces 200 --faults kill=10,join=2,leave=2,broker=1 --alike"
)
def kafka(  # noqa: PLR0913 - a run has that many sizes
    context: typer.Context,
    *,
    turns: Annotated[int, typer.Option("--turns", min=1, help="Turns to publish.")] = 20_000,
    spaces: Annotated[int, typer.Option("--spaces", min=1, help="Spaces that they are of.")] = 200,
    half: Annotated[bool, typer.Option("--half", help="As much again at half the rate reached: latencies.")] = False,
    hot: Annotated[
        int,
        typer.Option("--hot", min=0, help="Then so many turns of one space at once, and its neighbours' latencies."),
    ] = 0,
    scale: Annotated[
        str, typer.Option("--scale", help="Then so many workers of a stage that calls a model, as 1,4.")
    ] = "",
    call: Annotated[float, typer.Option("--call", min=0.01, help="Seconds of a model's call.")] = 0.5,
    rate: Annotated[float | None, typer.Option("--rate", help="Turns a second; unset: as fast as it goes.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Decides texts, spaces and the order of faults.")] = 1,
    workers: Annotated[str, typer.Option("--workers", help="More than one of a stage, as normalize=3,route=3.")] = "",
    faults: Annotated[
        str, typer.Option("--faults", help="How many of kill, join, leave, freeze, broker, index, as kill=10,join=2.")
    ] = "",
    away: Annotated[float, typer.Option("--away", min=0, help="Seconds that the fault `index` lasts.")] = 4.0,
    qdrant: Annotated[
        Path | None, typer.Option("--qdrant", help="The Qdrant server's binary; unset: stages that do nothing.")
    ] = None,
    alike: Annotated[bool, typer.Option("--alike", help="Compare memory and states with the embedded mode's.")] = False,
    shipped: Annotated[
        bool, typer.Option("--shipped", help="Then a load by turns through these and through Faust as shipped.")
    ] = False,
) -> None:
    """Throughput, latency and faults of a whole installation: a broker, an index server, one process a worker."""
    from infra.bench.kafka.load import Load  # noqa: PLC0415
    from infra.bench.kafka_run import Wanted, run_kafka  # noqa: PLC0415

    if shipped and (qdrant or rate or workers or faults):
        msg = "--shipped compares the runtime alone, at full speed: leave out --qdrant, --rate, --workers and --faults"
        raise UsageError(msg)
    session = session_of(context)
    wanted = Wanted(
        load=Load(turns, spaces, seed),
        rate=rate,
        workers=_counts(workers, [step.name for step in FLOW]),
        faults=tuple(name for name, count in _counts(faults, FAULTS).items() for _ in range(count)),
        qdrant=qdrant,
        away=away,
        alike=alike,
        half=half,
        hot=hot,
        scale=_sizes(scale),
        call=call,
        shipped=shipped,
    )
    session.run(run_kafka(session.settings(), wanted, output.console()))


def _counts(text: str, known: Sequence[str]) -> dict[str, int]:
    """Read ``name=number,name=number``."""
    counts: dict[str, int] = {}
    for part in filter(None, text.split(",")):
        name, _, number = part.partition("=")
        if name not in known or not number.isdigit():
            msg = f"{part!r} is no NAME=NUMBER with one of {', '.join(known)}"
            raise UsageError(msg)
        counts[name] = int(number)
    return counts


def _sizes(text: str) -> tuple[int, ...]:
    """Read ``number,number``."""
    parts = [part for part in text.split(",") if part]
    if not all(part.isdigit() and int(part) for part in parts):
        msg = f"{text!r} is no list of numbers of workers, as 1,4"
        raise UsageError(msg)
    return tuple(map(int, parts))
