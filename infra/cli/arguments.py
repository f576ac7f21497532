"""Options that several commands share, and how their texts are read."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from infra.as_of import moment
from schemas.space import Space


def parse_space(text: str) -> Space:
    """Read ``TENANT/SPACE``; a wrong form is wrong use of the command line."""
    try:
        return Space(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def parse_time(text: str) -> datetime:
    """Read an ISO 8601 time with an offset; ``Z`` is UTC."""
    try:
        return moment(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


SpaceOption = Annotated[
    Space, typer.Option("--space", metavar="TENANT/SPACE", parser=parse_space, help="The space to look into.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")]
NoWaitOption = Annotated[
    bool, typer.Option("--no-wait", help="Look at once, and do not process what is pending first.")
]

QuestionOption = Annotated[str | None, typer.Option(help="One question.")]
QuestionsOption = Annotated[Path | None, typer.Option(help="A file with a question a line, as JSON.")]
AskerOption = Annotated[str | None, typer.Option(metavar="ID", help="Who asks: 'my sister' is theirs.")]
AskedAtOption = Annotated[
    datetime | None,
    typer.Option(metavar="TIME", parser=parse_time, help="When the question is asked: ISO 8601 with an offset."),
]
ForTurnOption = Annotated[
    str | None, typer.Option(metavar="ID", help="The turn that asks; it is no evidence for itself.")
]
AfterOption = Annotated[
    str | None, typer.Option(metavar="TOKEN", help="A turn id (or id@revision) that has to be in memory.")
]
AsOfOption = Annotated[
    str | None, typer.Option(metavar="turn:ID|time:T|position:N", help="Answer from what was known then.")
]
