"""From the settings to a language model, with what keeps its answers."""

from __future__ import annotations

import sqlite3
from contextlib import AsyncExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from infra.address import Address
from infra.errors import HomeUnusable, MissingError, UsageError
from infra.settings import Settings
from streams.metrics import ModelCounts

if TYPE_CHECKING:
    from infra.models.chat import ChatEndpoint
    from infra.models.kept import KeptLanguageModel
    from streams.results import FileResults, Results

RESULTS: Final = "model.results.sqlite"
"""Name of the file in a home that keeps models' answers, for all its generations."""


def chat_endpoint(settings: Settings) -> ChatEndpoint:
    """Return the endpoint of the language model that the settings name; it connects when it is first asked.

    Raises:
        UsageError: if they name none.
        MissingError: if the HTTP client is not installed.
    """
    if settings.language_model is None:
        msg = "no language model is named: set ANABRANCH_LANGUAGE_MODEL to openai:URL#MODEL"
        raise UsageError(msg)
    if find_spec("httpx") is None:
        msg = "a language model needs httpx: run `pip install 'anabranch[endpoints]'`"
        raise MissingError(msg)
    from infra.models.chat import ChatEndpoint  # noqa: PLC0415 - who names no model loads no client

    named = Address.of_setting(settings.language_model)
    key, salt = settings.model_key, settings.model_salt
    return ChatEndpoint(
        named.url,
        named.model,
        timeout=settings.model_timeout,
        concurrency=settings.model_concurrency,
        key=None if key is None else key.get_secret_value(),
        salt=None if salt is None else salt.get_secret_value(),
    )


def kept_language_model(
    settings: Settings, results: Results, counts: ModelCounts, stack: AsyncExitStack
) -> KeptLanguageModel:
    """Return the language model that the settings name, on ``results``; its connections close with ``stack``."""
    from infra.models.kept import KeptLanguageModel  # noqa: PLC0415 - as above

    chat = chat_endpoint(settings)
    stack.push_async_callback(chat.close)
    return KeptLanguageModel(chat, results, settings.model_context, counts)


def reading_language_model(settings: Settings, counts: ModelCounts, stack: AsyncExitStack) -> KeptLanguageModel | None:
    """Return the language model of the read side, which keeps nothing (see ``infra.models.unkept``).

    It has connections of its own: questions wait for no turn, and turns for no question.

    Raises:
        MissingError: if the HTTP client is not installed.
    """
    if settings.language_model is None:
        return None
    from infra.models.unkept import Unkept  # noqa: PLC0415 - who names no model loads no client

    return kept_language_model(settings, Unkept(), counts, stack)


def language_model_of_home(
    settings: Settings, home: Path, counts: ModelCounts, stack: AsyncExitStack
) -> KeptLanguageModel | None:
    """Return the language model of a home's stages; ``None`` if none is named. All generations share its answers.

    Raises:
        HomeUnusable: if what keeps them cannot be used.
        MissingError: if the HTTP client is not installed.
    """
    if settings.language_model is None:
        return None
    results = _file(home / RESULTS)
    stack.callback(results.close)
    return kept_language_model(settings, results, counts, stack)


def _file(path: Path) -> FileResults:
    from streams.results import FileResults  # noqa: PLC0415 - as above

    try:
        return FileResults(path)
    except sqlite3.OperationalError as error:  # read-only, full, gone
        msg = f"{path} cannot be read or written ({error}); see to its disk and its permissions, then run again"
        raise HomeUnusable(msg) from error
    except sqlite3.DatabaseError as error:
        msg = (
            f"{path}, which keeps models' answers, is damaged ({error}); restore it from a backup, or move it away: "
            "then what is derived anew is asked about again"
        )
        raise HomeUnusable(msg) from error
