"""``recall`` and ``context``: asking memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from infra import shown
from infra.as_of import AsOf
from infra.cli import output
from infra.cli.answers import show_bundle, show_recalled
from infra.cli.arguments import (
    AfterOption,
    AskedAtOption,
    AskerOption,
    AsOfOption,
    ForTurnOption,
    JsonOption,
    NoWaitOption,
    QuestionOption,
    QuestionsOption,
    SpaceOption,
)
from infra.cli.question_lines import Given, inputs_of, questions_of
from infra.cli.session import Session, session_of
from infra.memory_api import Memory
from schemas.recall import Bundle, ContextInput, Question
from schemas.space import Space


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example: anabranch recall --space acme/mia --question 'When did the floor give way?' --k 5")(
        recall
    )
    app.command(epilog="Example: anabranch context --space acme/mia --text 'And the floor?' --speaker mia --json")(
        context
    )


@dataclass(frozen=True, slots=True)
class _Way:
    """How questions are asked: against which position, behind which turn, and how answers are shown."""

    space: Space
    as_of: str | None
    after: str | None
    as_json: bool


def recall(  # noqa: PLR0913 - an argument an option
    context: typer.Context,
    *,
    space: SpaceOption,
    question: QuestionOption = None,
    questions: QuestionsOption = None,
    k: Annotated[int, typer.Option(min=1, max=1000, help="Distinct evidence turns to find.")] = 10,
    asker: AskerOption = None,
    asked_at: AskedAtOption = None,
    for_turn: ForTurnOption = None,
    after: AfterOption = None,
    as_of: AsOfOption = None,
    no_wait: NoWaitOption = False,
    as_json: JsonOption = False,
) -> None:
    """Find the evidence for a question, best first.

    Lines of a questions file: id, question, and if need be asker, asked_at, for_turn.
    """
    defaults = {"asker": asker, "asked_at": asked_at and asked_at.isoformat(), "for_turn": for_turn, "k": k}
    given = list(questions_of(question, questions, defaults))
    session = session_of(context)
    session.run(_recall(session, given, _Way(space, as_of, after, as_json), wait=not no_wait))


async def _recall(session: Session, given: list[Given[Question]], way: _Way, *, wait: bool) -> None:
    async with session.memory(wait=wait) as memory:
        as_of = None if way.as_of is None else position_of(memory, way.space, way.as_of)
        for one in given:
            recalled = await memory.recall(way.space, one.asked.model_copy(update={"as_of": as_of}), way.after)
            if way.as_json:
                output.json_line(recalled.model_dump(mode="json") | {"id": one.id})
            else:
                show_recalled(one.asked.question, recalled)


def position_of(memory: Memory, space: Space, text: str) -> int:
    """Return the position that ``--as-of`` stands for.

    Raises:
        UsageError: if it has another form, or names a turn that memory does not hold.
    """
    as_of = AsOf.read(text)
    return as_of.position(space, () if as_of.needs is None else memory.rows(space))


def context(  # noqa: PLR0913 - an argument an option
    context: typer.Context,
    *,
    space: SpaceOption,
    text: Annotated[str | None, typer.Option(help="The text of a turn that is not published.")] = None,
    inputs: Annotated[Path | None, typer.Option(help="A file with such a turn a line, as JSON.")] = None,
    speaker: Annotated[str | None, typer.Option(metavar="ID", help="Who says it.")] = None,
    budget: Annotated[int, typer.Option(min=1, help="Tokens that the bundle may have.")] = 1024,
    no_wait: NoWaitOption = False,
    as_json: JsonOption = False,
) -> None:
    """Print what an agent should have before it when it answers this turn.

    Lines of an inputs file: id, text, and if need be speaker, at.
    """
    given = list(inputs_of(text, inputs, {"speaker": speaker}))
    session = session_of(context)
    session.run(_context(session, given, _Asked(space, budget, as_json), wait=not no_wait))


@dataclass(frozen=True, slots=True)
class _Asked:
    space: Space
    budget: int
    as_json: bool


async def _context(session: Session, given: list[Given[ContextInput]], asked: _Asked, *, wait: bool) -> None:
    async with session.memory(wait=wait) as memory:
        for one in given:
            bundle = await memory.context(asked.space, one.asked, asked.budget)
            if asked.as_json:
                output.json_line(_bundle(bundle, one))
            else:
                show_bundle(bundle)


def _bundle(bundle: Bundle, one: Given[ContextInput]) -> dict[str, Any]:
    """Return the bundle as printed: with the id of its line where there is a file."""
    turn_id = None if one.id is None else str(one.id)
    return ({"id": one.id} if one.from_file else {}) | shown.bundle(bundle, turn_id)
