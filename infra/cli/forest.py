"""``forest``: the branches of a space as a tree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

import typer
from rich.text import Text

from infra.cli import output
from infra.cli.arguments import NoWaitOption, SpaceOption
from infra.cli.session import Session, session_of
from infra.cli.turn_records import Detailed, open_turns
from schemas.space import Space

_SHOWN: Final = 90
"""Characters of a turn's text: one line of most terminals."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: anabranch forest --space acme/mia")(forest)


def forest(context: typer.Context, *, space: SpaceOption, no_wait: NoWaitOption = False) -> None:
    """Print the branches as a tree. A turn that goes on where its parent stopped stays in its column; forks indent."""
    session = session_of(context)
    session.run(_forest(session, space, wait=not no_wait))


async def _forest(session: Session, space: Space, *, wait: bool) -> None:
    async with session.memory(wait=wait) as memory:
        out = output.console()
        for line in draw(open_turns(memory.rows(space))):
            out.print(line, soft_wrap=True)


def draw(turns: Iterable[Detailed]) -> Iterator[Text]:
    """Give a line for each turn, depth first, without recursion: a branch may be ten thousand turns deep.

    A client may make a circle of reply references over revisions; what no root leads to is shown from its first turn.
    """
    known = {detail.turn_id: (record, detail) for record, detail in turns}
    children: defaultdict[str | None, list[str]] = defaultdict(list)
    for turn_id, (_, detail) in known.items():
        parent = detail.placement.parent_turn_id
        children[parent if parent in known else None].append(turn_id)
    waiting = [(turn_id, "", "● ") for turn_id in [*reversed(known), *reversed(children[None])]]
    shown: set[str] = set()
    while waiting:
        turn_id, indent, mark = waiting.pop()
        if turn_id in shown:
            continue
        shown.add(turn_id)
        yield _line(known[turn_id], indent + mark)
        below = children[turn_id]
        if len(below) == 1:
            waiting.append((below[0], indent, "│ "))
        else:
            waiting.extend((child, f"{indent}│ ", "├ ") for child in reversed(below))


def _line(turn: Detailed, lead: str) -> Text:
    record, detail = turn
    who = output.spelled(record.speaker.label) if record.speaker else "-"
    text = output.spelled(" ".join(record.text.split()))
    shown = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
    return Text.assemble((lead, "green"), (output.spelled(detail.turn_id), "cyan"), " ", (f"{who}: ", "magenta"), shown)
