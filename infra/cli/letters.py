"""``letters``: what could not be processed, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Annotated, Any, Final

import typer

from infra.cli import output
from infra.cli.arguments import JsonOption, NoWaitOption, parse_space
from infra.cli.progress import Bar
from infra.cli.session import Session, session_of
from infra.errors import UsageError
from infra.memory_api import Memory, Sums
from schemas.letter import Letter
from schemas.memory import OutcomeState, RecordRow
from schemas.space import Space
from streams.codec import Malformed
from streams.redrive import newest, redrive, revision_of

LETTERED: Final = 4
"""Exit code: done, but some were lettered again."""

_now = datetime.now  # noqa: TID251 - when an operator decided it, which is the control event's own time

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
    group.command("redrive", epilog="Example: anabranch letters redrive --space acme/mia")(redrive_letters)
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
        found = _named(memory.letters(space), letter_id)
    shown = _brief(found) | {
        "topic": found.topic,
        "offset": found.offset,
        "original": found.original.decode("utf-8", "backslashreplace"),
    }
    if as_json:
        output.json_line(shown)
    else:
        for name, value in shown.items():
            text = "-" if value is None else output.spelled(str(value), lines=name in {"reason", "original"})
            typer.echo(f"{name:<10} {text}".replace("\n", f"\n{'':<11}"))


def _named(letters: Iterable[Letter], letter_id: str) -> Letter:
    found = [letter for letter in letters if letter.letter_id.startswith(letter_id)]
    if len(found) != 1:
        msg = f"{len(found)} letters have an id that begins with {letter_id!r}; `anabranch letters list` shows the ids"
        raise UsageError(msg)
    return found[0]


def redrive_letters(
    context: typer.Context,
    *,
    letter_ids: Annotated[
        list[str] | None, typer.Argument(help="Ids, or their beginnings; none: all of --space.")
    ] = None,
    space: AnySpace = None,
    as_json: JsonOption = False,
) -> None:
    """Have events that became letters taken again, once the cause is mended, and process them.

    Each takes a new position and keeps its id. Events that came to memory since are left out; the newest letter of an
    event stands for all. Exit code 4 if some are lettered again: their letters have a higher attempt.
    """
    if not letter_ids and space is None:
        msg = "name letters by their ids, or a space whose letters are all to be taken again (--space)"
        raise UsageError(msg)
    session = session_of(context)
    sums = session.run(_redrive(session, letter_ids or [], space, as_json=as_json))
    if sums.lettered:
        session.messages.print(f"{sums.lettered} lettered again: `anabranch letters list` says why.")
        raise typer.Exit(LETTERED)


async def _redrive(session: Session, letter_ids: list[str], space: Space | None, *, as_json: bool) -> Sums:
    async with session.memory(wait=True) as memory:
        everywhere = list(memory.letters(space))
        wanted = [_named(everywhere, letter_id) for letter_id in letter_ids] or everywhere
        before = memory.sums()
        try:
            again = list(_open(memory, wanted))
            events = [(letter, redrive(letter, everywhere, _now(UTC))) for letter in again]
        except Malformed as error:
            msg = f"a letter holds what another version of anabranch wrote ({error}): redrive it with that one"
            raise UsageError(msg) from error
        for letter, event in events:
            await memory.publish(Space(letter.space), [event], own=True)
        if not again:
            why = "all of it came to memory since" if wanted else "there is no letter"
            session.messages.print(f"Nothing to take again: {why}.")
        output.rows((_brief(letter) for letter in again), COLUMNS, as_json=as_json)
        with Bar(session.messages, "redriving") as bar:
            await memory.run(bar.show)
        return memory.sums() - before


def _open(memory: Memory, letters: Iterable[Letter]) -> Iterator[Letter]:
    """Give the newest letter of each event that has not come to memory since."""
    held: dict[str, dict[str | None, tuple[int, int]]] = {}
    for letter in newest(letters):
        if letter.space not in held:
            held[letter.space] = _held(memory, Space(letter.space))
        last, revision = held[letter.space].get(letter.turn_id, (-1, -1))
        if letter.position is None or last < letter.position or revision < revision_of(letter):
            yield letter


def _held(memory: Memory, space: Space) -> dict[str | None, tuple[int, int]]:
    """Return the position and the revision of what memory holds of each turn id: the newest revision."""
    turns = (turn for turn in memory.turns(space) if turn.state is OutcomeState.COMMITTED)
    positions = {turn.turn_id: turn.position or 0 for turn in turns}
    revisions: dict[str, int] = {}
    for row in memory.rows(space):
        if isinstance(row, RecordRow) and row.turn is not None:
            known = revisions.get(row.turn.turn_id, 0)
            revisions[row.turn.turn_id] = max(known, row.turn.revision)
    return {turn_id: (position, revisions.get(turn_id, 0)) for turn_id, position in positions.items()}


def _brief(letter: Letter) -> dict[str, Any]:
    return letter.model_dump(mode="json", include=set(COLUMNS))
