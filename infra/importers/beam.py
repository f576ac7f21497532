"""BEAM: long chats of a user with an assistant, in batches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from infra.errors import UsageError
from infra.importers.files import document, files
from infra.importers.turns import Imported, encode, own_space, stamp
from schemas.space import Space

_INDEX: Final = re.compile(r"\s*->->\s*\d+\s*,\s*(?:\d+|N/A)\)?\s*$")
"""The index of the generator's plan behind a text ("->-> 1,1", at times "2,N/A" or "5,14)"): nobody said it."""
_ANCHOR: Final = re.compile(r"([A-Za-z]+)-(\d{1,2})-(\d{4})")
_MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_APART: Final = timedelta(minutes=1)
_SPEAKERS: Final = {"user": {"id": "user", "role": "user"}, "assistant": {"id": "assistant", "role": "agent"}}


def read_beam(path: Path) -> Iterator[Imported]:
    """Give every message, a minute after the one before, or at its own anchor.

    Raises:
        UsageError: if a file is not such a chat, or has no time anchor at all.
    """
    for file in files(path, ".json"):
        chats = document(file)
        for chat in chats if isinstance(chats, list) else [chats]:
            yield from _chat(chat, file)


def _chat(chat: Any, file: Path) -> Iterator[Imported]:  # noqa: ANN401 - a foreign file
    try:
        space = own_space("beam", chat["chat_id"], file)
        messages = list(_messages(chat["chat"]))
        at = next(parse_anchor(anchor) for anchor, _ in messages if anchor) - _APART
        for anchor, message in messages:
            at = parse_anchor(anchor) if anchor else at + _APART
            yield Imported(space, encode(_turn(space, message, at)), f"{file}: {message['id']}")
    except StopIteration:
        msg = f"{file}: no message has a time_anchor, so its turns have no time"
        raise UsageError(msg) from None
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        msg = f"{file} is not of BEAM's shape: {type(error).__name__}: {error}"
        raise UsageError(msg) from error


def _messages(batches: Any) -> Iterator[tuple[str | None, Mapping[str, Any]]]:  # noqa: ANN401 - a foreign file
    """Give each message with its time anchor; a batch's own stands for its first message."""
    for batch in batches:
        anchor = batch.get("time_anchor")
        for message in (message for group in batch["turns"] for message in group):
            yield message.get("time_anchor") or anchor, message
            anchor = None


def _turn(space: Space, message: Mapping[str, Any], at: datetime) -> dict[str, Any]:
    return {
        "space": space,
        "turn_id": str(message["id"]),
        "speaker": _SPEAKERS[message["role"]],
        "text": said(message),
        "at": stamp(at),
    }


def said(message: Mapping[str, Any]) -> str:
    """Return the text of a message as its speaker said it."""
    return _INDEX.sub("", message["content"] or "")


def parse_anchor(text: str) -> datetime:
    """Return the day of "March-15-2024", in UTC.

    Raises:
        ValueError: if the text has another form.
    """
    found = _ANCHOR.fullmatch(text.strip())
    if not found or found[1][:3].lower() not in _MONTHS:
        msg = f"a time anchor is written like 'March-15-2024'; got {text!r}"
        raise ValueError(msg)
    return datetime(int(found[3]), _MONTHS.index(found[1][:3].lower()) + 1, int(found[2]), tzinfo=UTC)
