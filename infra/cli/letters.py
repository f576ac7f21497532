"""``letters``: what could not be processed, and why."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from infra.cli import output
from infra.cli.arguments import JsonOption, NoWaitOption, parse_space
from infra.cli.session import Session, session_of
from infra.errors import UsageError
from schemas.letter import Letter
from schemas.space import Space

COLUMNS = ("letter_id", "space", "turn_id", "position", "stage", "reason", "attempt")

AnySpace = Annotated[
    Space | None,
    typer.Option("--space", metavar="TENANT/SPACE", parser=parse_space, help="Letters of this space only."),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="Turns that could not be processed.", no_args_is_help=True)
    group.command("list", epilog="Example: anabranch letters list --space acme/mia --json")(list_letters)
    group.command("show", epilog="Example: anabranch letters show 6f1c2a7e-0000-5000-8000-000000000000")(show)
    app.add_typer(group, name="letters")


def list_letters(
    context: typer.Context, *, space: AnySpace = None, as_json: JsonOption = False, no_wait: NoWaitOption = False
) -> None:
    """List letters with stage and reason."""
    session = session_of(context)
    session.run(_list(session, space, as_json=as_json, wait=not no_wait))


async def _list(session: Session, space: Space | None, *, as_json: bool, wait: bool) -> None:
    async with session.memory(wait=wait) as memory:
        output.rows((_brief(letter) for letter in memory.letters(space)), COLUMNS, as_json=as_json)


def show(
    context: typer.Context,
    *,
    letter_id: Annotated[str, typer.Argument(help="The id, or the beginning of it.")],
    space: AnySpace = None,
    as_json: JsonOption = False,
) -> None:
    """Show a letter with the original bytes of its event."""
    session = session_of(context)
    session.run(_show(session, letter_id, space, as_json=as_json))


async def _show(session: Session, letter_id: str, space: Space | None, *, as_json: bool) -> None:
    async with session.memory(wait=False) as memory:
        found = [letter for letter in memory.letters(space) if letter.letter_id.startswith(letter_id)]
    if len(found) != 1:
        msg = f"{len(found)} letters have an id that begins with {letter_id!r}; `anabranch letters list` shows the ids"
        raise UsageError(msg)
    shown = _brief(found[0]) | {
        "topic": found[0].topic,
        "offset": found[0].offset,
        "original": found[0].original.decode("utf-8", "backslashreplace"),
    }
    if as_json:
        output.json_line(shown)
    else:
        for name, value in shown.items():
            text = "-" if value is None else output.spelled(str(value), lines=name in {"reason", "original"})
            typer.echo(f"{name:<10} {text}".replace("\n", f"\n{'':<11}"))


def _brief(letter: Letter) -> dict[str, Any]:
    return letter.model_dump(mode="json", include=set(COLUMNS))
