"""An OpenAI-compatible server on a real socket that misbehaves exactly as a test says, request by request."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Self

from infra.loop_thread import LoopThread
from tests.fakes.by_schema import least

_DRIP_S = 0.02
_RESET = struct.pack("ii", 1, 0)
"""Linger on, for no time: what is closed so is reset."""


@dataclass(frozen=True)
class Asked:
    """A request as it came in; ``number`` counts from 0."""

    number: int
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def schema(self) -> Mapping[str, Any]:
        schema: Mapping[str, Any] = self.body["response_format"]["json_schema"]["schema"]
        return schema

    @property
    def name(self) -> str:
        """Name of the prompt, ``stage_purpose``."""
        return str(self.body["response_format"]["json_schema"]["name"])

    @property
    def user(self) -> str:
        return str(self.body["messages"][-1]["content"])


Reply = Callable[[Asked, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
"""Answers on the connection, in whatever way; it is closed afterwards."""

Script = Callable[[Asked], Reply]


def status(code: int, body: bytes = b'{"error": {"message": "no"}}', **headers: str) -> Reply:
    """Answer with a status; ``retry_after="1"`` is a header."""

    async def reply(_asked: Asked, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        writer.write(_head(code, {"content-length": str(len(body)), **named}) + body)
        await writer.drain()

    return reply


def said(text: str | None, finish: str = "stop", **usage: Any) -> Reply:
    """Answer with a completion of this text."""
    message = {"role": "assistant", "content": text}
    counted = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110} | usage
    body = {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": finish}]}
    return status(HTTPStatus.OK, json.dumps({**body, "usage": counted}).encode())


async def sound(asked: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer with the least that the schema allows."""
    await said(json.dumps(least(asked.schema)))(asked, reader, writer)


async def hang(_asked: Asked, reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """Say nothing until the client leaves."""
    await reader.read()


async def reset(_asked: Asked, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Reset the connection."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)


async def drip(_asked: Asked, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Begin an answer and send a blank now and then, for ever."""
    writer.write(_head(HTTPStatus.OK, {"transfer-encoding": "chunked"}))
    while True:
        writer.write(b"1\r\n \r\n")
        await writer.drain()
        await asyncio.sleep(_DRIP_S)


async def flood(_asked: Asked, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send blanks without end, as fast as they are taken."""
    writer.write(_head(HTTPStatus.OK, {"transfer-encoding": "chunked"}))
    while True:
        writer.write(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
        await writer.drain()


async def cut(_asked: Asked, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """End in the middle of an answer."""
    writer.write(_head(HTTPStatus.OK, {"content-length": "1000"}) + b'{"choices": [{"mess')


def _head(code: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {code} X", "content-type: application/json", "connection: close"]
    return "\r\n".join([*lines, *(f"{name}: {value}" for name, value in headers.items()), "", ""]).encode()


def _sound(_asked: Asked) -> Reply:
    return sound


@dataclass
class ChatServer:
    """Serves inside a ``with`` block, from a thread of its own; ``asked`` are the requests so far.

    ``port`` is a free one where it is 0; a server that was stopped can be started again at the same.
    """

    script: Script = _sound
    asked: list[Asked] = field(default_factory=list)
    port: int = 0
    _thread: LoopThread = field(default_factory=lambda: LoopThread("chat-server"))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def setting(self) -> str:
        """What ANABRANCH_LANGUAGE_MODEL says."""
        return f"openai:{self.url}#scripted"

    def __enter__(self) -> Self:
        self._thread.__enter__()
        self._server = self._thread.call(asyncio.start_server(self._serve, "127.0.0.1", self.port))
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.tell(self._server.close)
        self._thread.__exit__()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            first, *lines = head.split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines if line)}
            body = json.loads(await reader.readexactly(int(headers["content-length"])))
            asked = Asked(len(self.asked), first.split(" ")[1], headers, body)
            self.asked.append(asked)
            await self.script(asked)(asked, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client left first
        finally:
            writer.close()
