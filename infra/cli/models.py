"""``models``: serving models, the endpoints of models that the settings name, and what they answered."""

from __future__ import annotations

from typing import Any

import typer

from infra.cli import models_serve, output
from infra.cli.arguments import JsonOption, SpaceOption
from infra.cli.model_check import Tried, tried
from infra.cli.session import session_of
from infra.errors import MissingError, UsageError
from infra.kept_answers import kept_answers
from infra.settings import Settings
from schemas.model_result import ModelResult
from schemas.space import Space

ANSWERS = ("prompt", "prompt_version", "model", "status", "finish", "prompt_tokens", "answer_tokens", "text")
COLUMNS = ("kind", "model", "seconds", "tokens_in", "tokens_out", "follows_schema", "fault")


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(help="Models: served, asked, and what they answered.", no_args_is_help=True)
    group.command("serve", epilog=models_serve.EXAMPLE)(models_serve.serve)
    group.command("check", epilog="Example: anabranch models check")(check)
    group.command("answers", epilog="Example: anabranch models answers --space acme/mia --json")(answers)
    app.add_typer(group, name="models")


def check(context: typer.Context, *, as_json: JsonOption = False) -> None:
    """Ask each model one tiny question and print what answers; exit code 3 if an answer is of no use.

    A language model is asked by a schema, which it has to follow.
    """
    session = session_of(context)
    found = session.run(_asked(session.settings()))
    output.rows(found, COLUMNS, as_json=as_json)
    if any(row["fault"] is not None for row in found):
        raise typer.Exit(MissingError.exit_code)


def answers(context: typer.Context, *, space: SpaceOption, as_json: JsonOption = False) -> None:
    """Print the answers that are kept of a space as they came, of use or not, the oldest first."""
    session = session_of(context)
    found = session.run(_kept(session.settings(), space))
    output.rows([one.model_dump(mode="json") for one in found], ANSWERS, as_json=as_json)


async def _kept(settings: Settings, space: Space) -> list[ModelResult]:
    return [one async for one in kept_answers(settings, space)]


async def _asked(settings: Settings) -> list[dict[str, Any]]:
    """Return a row for each endpoint that the settings name.

    Raises:
        UsageError: if they name none.
        Unavailable: if one does not answer.
    """
    if settings.language_model is None:
        msg = "no model has an endpoint: set ANABRANCH_LANGUAGE_MODEL to openai:URL#MODEL"
        raise UsageError(msg)
    return [_row(await tried(settings))]


def _row(found: Tried) -> dict[str, Any]:
    return {
        "kind": "language model",
        "model": found.result.model,
        "seconds": round(found.seconds, 3),
        "tokens_in": found.result.prompt_tokens,
        "tokens_out": found.result.answer_tokens,
        "follows_schema": found.fault is None,
        "fault": found.fault,
    }
