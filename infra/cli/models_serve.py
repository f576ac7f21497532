"""``models serve``: encoders, rerankers and language models behind HTTP, on Ray Serve."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from infra.cli import output
from infra.cli.session import session_of
from infra.errors import MissingError

if TYPE_CHECKING:
    from infra.models.serving.config import PlaneConfig

EXAMPLE = "Example: anabranch models serve --embedder sentence-transformers:all-MiniLM-L6-v2 --port 8000"


def serve(
    context: typer.Context,
    *,
    config: Annotated[Path | None, typer.Option("--config", metavar="FILE", help="A TOML file of models.")] = None,
    host: Annotated[str | None, typer.Option("--host", help="Address to listen on; there are no keys.")] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=1, max=65535, help="Port to listen on; unset: 8000.")
    ] = None,
    embedder: Annotated[
        str | None, typer.Option("--embedder", metavar="EMBEDDER", help="What to embed with, as ANABRANCH_EMBEDDER.")
    ] = None,
    reranker: Annotated[
        str | None, typer.Option("--reranker", metavar="RERANKER", help="What to judge with, as ANABRANCH_RERANKER.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be served, and start nothing.")] = False,
) -> None:
    """Serve models until Ctrl-C or SIGTERM: POST /v1/embeddings, POST /v1/rerank, GET /v1/models, GET /healthz.

    The options stand above the file. A language model has its own /v1 at /language/v1. Other processes name what is
    served by ANABRANCH_EMBEDDER=openai:http://HOST:PORT/v1#MODEL, ANABRANCH_RERANKER and ANABRANCH_LANGUAGE_MODEL.
    """
    from infra.models.serving.config import read_config  # noqa: PLC0415 - `--help` must not load models

    given: dict[str, Any] = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    for name, model in (("embeddings", embedder), ("reranker", reranker)):
        if model is not None:
            given[name] = {"model": model}
    wanted = read_config(config, given)
    if dry_run:
        _show(wanted)
        return
    if find_spec("ray") is None:
        msg = "the model plane needs ray, which is not installed: install anabranch[serve,models]"
        raise MissingError(msg)
    session_of(context).run(_serve(wanted))


def _show(config: PlaneConfig) -> None:
    for name, part in (("embeddings", config.embeddings), ("reranker", config.reranker), ("language", config.language)):
        if part is not None:
            output.json_line({"name": name, "model": part.model, "deployment": part.deployment})
    if config.language is not None:
        output.json_line({"llm": config.language.llm_config})


async def _serve(config: PlaneConfig) -> None:
    from infra.models.serving.switches import set_switches  # noqa: PLC0415 - as above

    set_switches()
    from infra.models.serving.plane import run  # noqa: PLC0415 - Ray reads its switches when it is imported

    ready = asyncio.Event()
    told = asyncio.ensure_future(_tell(config, ready))
    try:
        await run(config, ready)
    finally:
        told.cancel()
        with suppress(asyncio.CancelledError):
            await told


async def _tell(config: PlaneConfig, ready: asyncio.Event) -> None:
    await ready.wait()
    typer.echo(f"Models answer on http://{config.host}:{config.port}/v1")
