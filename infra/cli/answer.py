"""``answer``: asking memory for an answer, with what it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from infra.cli import output
from infra.cli.answered import show_answer
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
from infra.cli.question_lines import Given, questions_of
from infra.cli.recall import position_of
from infra.cli.session import Session, session_of
from schemas.answer import Asked
from schemas.recall import Question
from schemas.space import Space


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: anabranch answer --space acme/mia --question 'When did the floor give way?' --trace")(
        answer
    )


@dataclass(frozen=True, slots=True)
class _Way:
    """How questions are asked and answers shown; what an answer may cost is as the settings say where it is unset."""

    space: Space
    as_of: str | None
    after: str | None
    budget: int | None
    requests: int | None
    seconds: float | None
    trace: bool
    as_json: bool

    def asked(self, question: Question, as_of: int | None) -> Asked:
        """Return a question with what its answer may cost."""
        return Asked(
            question=question.model_copy(update={"as_of": as_of}),
            budget=self.budget,
            requests=self.requests,
            seconds=self.seconds,
            trace=self.trace,
        )


def answer(  # noqa: PLR0913 - an argument an option
    context: typer.Context,
    *,
    space: SpaceOption,
    question: QuestionOption = None,
    questions: QuestionsOption = None,
    asker: AskerOption = None,
    asked_at: AskedAtOption = None,
    for_turn: ForTurnOption = None,
    after: AfterOption = None,
    as_of: AsOfOption = None,
    budget: Annotated[
        int | None, typer.Option(min=100, max=1_000_000, help="Tokens of evidence in a request to the model.")
    ] = None,
    requests: Annotated[
        int | None, typer.Option(min=0, max=20, help="Requests to the model an answer; 0: evidence only.")
    ] = None,
    seconds: Annotated[float | None, typer.Option(min=0.1, max=3600, help="Seconds an answer may take.")] = None,
    no_wait: NoWaitOption = False,
    trace: Annotated[bool, typer.Option("--trace", help="Show each step that led to the answer.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Answer a question from memory, with the turns that the answer rests on, or say that memory does not hold it.

    The answer is written by the model that ANABRANCH_LANGUAGE_MODEL names; without one, the evidence is shown. Lines of
    a questions file: id, question, and if need be asker, asked_at, for_turn.
    """
    defaults = {"asker": asker, "asked_at": asked_at and asked_at.isoformat(), "for_turn": for_turn}
    given = list(questions_of(question, questions, defaults))
    session = session_of(context)
    way = _Way(space, as_of, after, budget, requests, seconds, trace, as_json)
    session.run(_answer(session, given, way, wait=not no_wait))


async def _answer(session: Session, given: list[Given[Question]], way: _Way, *, wait: bool) -> None:
    async with session.memory(wait=wait) as memory:
        as_of = None if way.as_of is None else position_of(memory, way.space, way.as_of)
        for one in given:
            told = await memory.answer(way.space, way.asked(one.asked, as_of), way.after)
            if way.as_json:
                output.json_line(told.model_dump(mode="json") | {"id": one.id})
            else:
                show_answer(one.asked.question, told)
