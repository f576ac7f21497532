"""``models``: serving models, the endpoints of models that the settings name, and what they answered."""

from __future__ import annotations

import time
from collections.abc import Awaitable
from typing import Any, TypeGuard

import typer

from infra.address import Address
from infra.cli import checks, models_serve, output
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
        Unavailable: if the language model does not answer.
    """
    rows = []
    if _is_served(settings.embedder):
        rows.append(await _checked(settings.embedder, checks.encoder(settings)))
    if _is_served(settings.reranker):
        rows.append(await _checked(settings.reranker, checks.reranker(settings)))
    if settings.language_model is not None:
        rows.append(_row(await tried(settings)))
    if not rows:
        msg = (
            "no model has an endpoint: set ANABRANCH_LANGUAGE_MODEL, ANABRANCH_EMBEDDER or ANABRANCH_RERANKER to "
            "openai:URL#MODEL"
        )
        raise UsageError(msg)
    return rows


def _is_served(choice: str | None) -> TypeGuard[str]:
    return choice is not None and choice.startswith("openai:")


async def _checked(choice: str, looking: Awaitable[checks.Check]) -> dict[str, Any]:
    """Return the row of a model that gives no text: it answers, or that it does not is its fault."""
    begun = time.perf_counter()  # noqa: TID251 - how long an answer takes is what is shown
    found = await looking
    return {
        "kind": found.name,
        "model": Address.of_setting(choice).model,
        "seconds": round(time.perf_counter() - begun, 3),  # noqa: TID251 - as above
        "fault": None if found.verdict is checks.Verdict.FINE else found.found,
    }


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
