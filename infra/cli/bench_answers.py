"""``bench answers``: how good answers from memory are, beside those of a model that is shown the turns."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from infra.cli import output
from infra.cli.bench import Data, benchmarks
from infra.cli.session import session_of


class Answers(StrEnum):
    """The sets with answers."""

    LOCOMO = "locomo"
    PERSONAMEM = "personamem"


def register(_app: typer.Typer) -> None:
    """Add the command to the group of benchmarks."""
    benchmarks.command(
        epilog="Example: anabranch bench answers ../shared/data/locomo --format locomo --by-rules --out answers.jsonl"
    )(answers)


def answers(
    context: typer.Context,
    path: Data,
    *,
    kind: Annotated[Answers, typer.Option("--format", help="What the path holds.")] = Answers.LOCOMO,
    out: Annotated[Path | None, typer.Option("--out", help="Write every raw answer there, as JSON lines.")] = None,
    judge: Annotated[bool, typer.Option("--judge", help="LoCoMo: let the same model judge the answers, too.")] = False,
    most: Annotated[
        int | None, typer.Option("--most", min=1, help="LoCoMo: so many questions of a conversation; unset: all.")
    ] = None,
    by_rules: Annotated[
        bool, typer.Option("--by-rules", help="Write memory without the model, which answers only.")
    ] = False,
) -> None:
    """Answer questions from memory, from the full context and from recent turns, and score them.

    Official F1 and BLEU-1 on LoCoMo, multiple choice on PersonaMem (a folder with its two files). The model is the one
    that ANABRANCH_LANGUAGE_MODEL names; without one, only the baselines that need none are scored.
    """
    session = session_of(context)
    if kind is Answers.LOCOMO:
        from infra.bench.answers_run import Wanted, run_answers  # noqa: PLC0415 - `--help` must not load the index

        session.run(run_answers(session.settings(), Wanted(path, out, judge, most, by_rules), output.console()))
        return
    from infra.bench.choices_run import run_choices  # noqa: PLC0415 - as above

    session.run(run_choices(session.settings(), path, output.console(), out, by_rules=by_rules))
