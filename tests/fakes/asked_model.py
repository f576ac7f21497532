"""A request to a language model as a stage might make one, and what servers say to it."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import chain, repeat
from typing import Annotated, Literal

from pydantic import Field

from infra.models.chat import ChatEndpoint
from infra.models.kept import KeptLanguageModel
from schemas.base import Model
from schemas.space import Space
from stages.ports import Request
from stages.prompts import Prompt, as_data
from streams.metrics import Outcome
from tests.fakes.chat_server import ChatServer, Reply, cut, drip, flood, hang, reset, said, status
from tests.fakes.results import MemoryResults

ACME = Space("acme/u-1")


class Mood(Model):
    """An answer: one word of three, and some quotes."""

    mood: Literal["well", "ill", "unknown"]
    quotes: Annotated[tuple[str, ...], Field(max_length=2)] = ()


PROMPT = Prompt("normalize.mood", 1, "Say how the speaker of the turn is.", Mood, 64)
FINE = Mood(mood="well", quotes=("fine",))
WELL = json.dumps({"mood": "well", "quotes": ["fine"]})


def request(text: str = "I am fine.", space: Space = ACME, *, prompt: Prompt[Mood] = PROMPT) -> Request[Mood]:
    """Return a request about a turn, whose quotes must be in it."""
    return Request(space, prompt, as_data({"turn": text}), "The speakers are Mia and Rook.", lambda m: _check(m, text))


def _check(mood: Mood, text: str) -> str | None:
    invented = [quote for quote in mood.quotes if quote not in text]
    return f"{invented} is not in the turn" if invented else None


NO_USE: dict[str, Reply] = {
    "truncated": said(WELL[:14], "length"),
    "truncated though it says stop": said(WELL[:14]),
    "prose around JSON": said(f"Sure! Here it is:\n```json\n{WELL}\n```"),
    "another schema": said('{"sentiment": 5}'),
    "one field too many": said('{"mood": "well", "quotes": [], "note": "x"}'),
    "too many items": said('{"mood": "well", "quotes": ["f", "i", "n"]}'),
    "whitespace until the limit": said(" \n" * 2000, "length"),
    "invented quotes": said('{"mood": "well", "quotes": ["I won the lottery"]}'),
    "empty": said(""),
    "nothing": said(None),
    "a lone surrogate": said('{"mood": "well", "quotes": ["\\ud800"]}'),
    "nested without end": said("[" * 100_000),
    "stopped by a filter": said(WELL, "content_filter"),
}
"""Answers that are none: kept, asked once more, then rules."""

REFUSED: dict[str, Reply] = {
    "bad request": status(400),
    "too large": status(413),
    "unprocessable": status(422, b"\xff no text"),
}
"""What an endpoint says of a request and would say again: kept, not asked once more."""

AWAY: dict[str, Reply] = {
    "429 with a time": status(429, retry_after="0.01"),
    "429 with a date": status(429, retry_after="Sun, 06 Nov 1994 08:49:37 GMT"),
    "429 with no date": status(429, retry_after="Mon, 01 Jan 2024 99999999999999999999:00:00 GMT"),
    "429 with rubbish": status(429, retry_after="soon"),
    "500": status(500),
    "503 with a time": status(503, retry_after="0"),
    "502 with a page": status(502, b"<html>Bad gateway</html>"),
    "hang": hang,
    "connection reset": reset,
    "drip-feed": drip,
    "blanks without end": flood,
    "cut in the middle": cut,
    "no completion": status(200, b"<html>log in</html>"),
    "no choices": status(200, b'{"choices": []}'),
    "a list": status(200, b"[1]"),
    "a null": status(200, b'{"choices": [null]}'),
    "redirect": status(302, location="/elsewhere"),
    "no key": status(401),
    "forbidden": status(403),
    "no such model": status(404),
    "aborted": said(WELL, "abort"),
    "an error of its own": said("", "error"),
    "packed": status(200, gzip.compress(b" " * 10_000_000), content_encoding="gzip"),
}
"""No answer: nothing is kept, and it is asked again."""


@asynccontextmanager
async def asking(
    server: ChatServer, *replies: Reply, results: MemoryResults | None = None, **more: object
) -> AsyncIterator[KeptLanguageModel]:
    """Give a model whose endpoint answers these one after the other, and well from then on."""
    script = chain(replies, repeat(said(WELL)))
    server.asked.clear()
    server.script = lambda _asked: next(script)
    chat = ChatEndpoint(server.url, "m", **more)  # type: ignore[arg-type]  # by name, as the caller has them
    try:
        yield KeptLanguageModel(chat, results or MemoryResults())
    finally:
        await chat.close()


def outcomes(model: KeptLanguageModel) -> dict[Outcome, int]:
    return dict(model.counts.total().outcomes)
