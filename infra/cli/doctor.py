"""``doctor``: what is configured, what answers, what does not match, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import asdict
from typing import Any

import typer
from rich.text import Text

from infra.cli import output
from infra.cli.arguments import JsonOption
from infra.cli.checks import Check, Verdict, encoder, local, reranker
from infra.cli.index_check import index
from infra.cli.kafka_checks import kafka, letters, server
from infra.cli.model_check import language
from infra.cli.night_check import nights
from infra.cli.session import session_of
from infra.errors import MissingError
from infra.settings import Settings

_STYLE = {Verdict.FINE: "green", Verdict.ODD: "yellow", Verdict.WRONG: "bold red"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: anabranch doctor")(doctor)


def doctor(context: typer.Context, *, as_json: JsonOption = False) -> None:
    """Look at versions, settings, home, disk, index and models; on Kafka at broker, topics, workers and letters too.

    Changes nothing; exit code 3 if something is wrong.
    """
    session = session_of(context)
    settings = session.settings()
    checks = [*local(settings), *_cluster(settings)]
    for check in checks:
        _show(check, as_json=as_json)
    for look in _looks(settings, checks):
        checks.append(session.run(look(settings)))
        _show(checks[-1], as_json=as_json)
    if any(check.verdict is Verdict.WRONG for check in checks):
        raise typer.Exit(MissingError.exit_code)


def _cluster(settings: Settings) -> Iterator[Check]:
    if settings.kafka is not None:
        yield from kafka(settings.kafka, settings.generation)


def _looks(settings: Settings, checks: Sequence[Check]) -> list[Callable[[Settings], Coroutine[Any, Any, Check]]]:
    """Return what is looked at beside: on Kafka the server's index in place of the home's, and letters."""
    judges = [] if settings.reranker is None else [reranker]
    if settings.kafka is None:
        return [index, nights, encoder, language, *judges]
    has_topics = any(check.name == "topics" and check.verdict is Verdict.FINE for check in checks)
    return [*([letters, nights] if has_topics else []), server, encoder, language, *judges]


def _show(check: Check, *, as_json: bool) -> None:
    if as_json:
        output.json_line(asdict(check))
        return
    line = Text.assemble((f"{check.verdict.value:<6}", _STYLE[check.verdict]), f"{check.name:<10}", check.found)
    output.console().print(line, soft_wrap=True)
    if check.advice:
        output.console().print(Text(f"{'':<16}→ {check.advice}"), soft_wrap=True)
