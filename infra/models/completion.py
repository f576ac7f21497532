"""Reading what an endpoint says to a chat completion: an answer, of use or not, or that there is none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, Final

from stages.contract import Unavailable

_SAID: Final = 300
"""Characters of an endpoint's own words in a message."""

_REFUSED: Final = frozenset(
    {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY}
)
"""What the endpoint says of this request, and would say again: an answer, though of no use."""

_BROKEN: Final = frozenset({"abort", "error"})
"""Why vLLM and SGLang end an answer that they themselves did not bring to an end."""

_LARGEST_COUNT: Final = 2**53
"""What a float of a metric holds exactly."""

_SET: Final = {
    HTTPStatus.UNAUTHORIZED: "see ANABRANCH_MODEL_KEY",
    HTTPStatus.FORBIDDEN: "see ANABRANCH_MODEL_KEY, and what that key may do",
    HTTPStatus.NOT_FOUND: "see the URL and the model in ANABRANCH_LANGUAGE_MODEL",
}


@dataclass(frozen=True, slots=True)
class Completion:
    """What an endpoint answered; the fields are those of ``ModelResult``."""

    status: int
    text: str
    finish: str | None = None
    prompt_tokens: int = 0
    cached_tokens: int = 0
    answer_tokens: int = 0


class NotNow(Unavailable):
    """The endpoint asks for a pause of ``seconds``."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


def completion_of(url: str, status: int, headers: Mapping[str, str], body: bytes) -> Completion:
    """Return what an endpoint answered.

    Raises:
        NotNow: if it says when to come again.
        Unavailable: if that is no answer: an error of its own, a key that it does not know, or no chat completion.
    """
    if status == HTTPStatus.OK:
        return _read(url, body)
    said = f"{url} answers {status}: {_text(body)}"
    if status in _REFUSED:
        return Completion(status, _clean(body.decode("utf-8", "replace")))
    if status in _SET:
        msg = f"{said}; {_SET[HTTPStatus(status)]}"
        raise Unavailable(msg)
    if (wait := _wait(headers.get("retry-after"))) is not None:
        raise NotNow(said, wait)
    raise Unavailable(said)


def _read(url: str, body: bytes) -> Completion:
    try:
        told = json.loads(body)
        choice = told["choices"][0]
        text, finish = _content(choice["message"]), choice.get("finish_reason")
        usage = told.get("usage") or {}
        if isinstance(finish, str) and finish in _BROKEN:
            msg = f"{url} did not bring its answer to an end ({finish})"
            raise Unavailable(msg)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        msg = f"{url} answers what is no chat completion ({type(error).__name__}): {_text(body)}"
        raise Unavailable(msg) from error
    return Completion(
        HTTPStatus.OK,
        _clean(text),
        _clean(finish) if isinstance(finish, str) else None,
        _count(usage, "prompt_tokens"),
        _count(usage.get("prompt_tokens_details") if isinstance(usage, dict) else None, "cached_tokens"),
        _count(usage, "completion_tokens"),
    )


def _content(message: dict[str, Any]) -> str:
    """Return what the model says: nothing, if it refuses or calls a tool instead."""
    content = message.get("content")
    return content if isinstance(content, str) else ""


def _count(usage: object, name: str) -> int:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if type(value) is int and 0 <= value < _LARGEST_COUNT else 0


def _clean(text: str) -> str:
    """Join surrogate pairs and drop lone ones, which no topic takes."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")


def _text(body: bytes) -> str:
    return " ".join(body.decode("utf-8", "replace").split())[:_SAID] or "nothing"


def _wait(told: str | None) -> float | None:
    """Return the seconds that Retry-After names, as a number or as a date."""
    if not told:
        return None
    try:
        return max(0.0, float(told))
    except ValueError:
        pass
    try:
        at = parsedate_to_datetime(told)
    except (ValueError, OverflowError):
        return None
    now = datetime.now(UTC)  # noqa: TID251 - how long to wait for an endpoint is no event's time
    return max(0.0, ((at if at.tzinfo else at.replace(tzinfo=UTC)) - now).total_seconds())
