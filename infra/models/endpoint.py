"""A model behind HTTP, as OpenAI-compatible servers offer them, and what its failures mean for a stage."""

from __future__ import annotations

import asyncio
import json
import math
import ssl
from collections.abc import AsyncIterable, Callable
from concurrent.futures import CancelledError, Future
from http import HTTPStatus
from threading import Lock
from time import monotonic  # noqa: TID251 - a call has a deadline, and Retry-After is a time
from typing import TYPE_CHECKING, Any, Final, NoReturn

from infra.address import Address
from infra.errors import ModelMissing
from infra.loop_thread import LoopThread, cancel_others
from stages.contract import Unavailable

if TYPE_CHECKING:
    import httpx

_EXTRA: Final = "pip install 'anabranch[endpoints]'"
_CONNECT_S: Final = 5.0
_ANSWER: Final = 64 * 1024 * 1024
"""Bytes of the largest answer that is read: 16 vectors of 4,096 numbers are 2 MB at most."""
_LONGEST_REST_S: Final = 60.0
"""A server that asks for a longer rest is asked again after this: it may be back, and lanes wait."""
_SAID: Final = 200
_REFUSALS: Final = {
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
}
_ABSENT: Final = {HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED}
_KEYLESS: Final = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}
_KEY_HINT: Final = "; it wants another key: see ANABRANCH_EMBEDDER_KEY, ANABRANCH_RERANKER_KEY"
_BUSY: Final = {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}


class RefusedError(ValueError):
    """The server read the request and will not answer it: most likely something in it is at fault."""


class Endpoint:
    """Calls one server; any thread may. ``answer_s``: seconds that a whole call may take, its headers included.

    A thread of its own does the calls, since only what waits in an event loop can be ended at its time.

    Everything that a later call may mend is ``Unavailable``: no answer, a refused key, too many requests, a fault of
    the server. Until the time that a ``Retry-After`` names no request is made.

    Raises:
        ModelMissing: if the client library is not installed.
    """

    def __init__(
        self, address: Address, key: str | None, answer_s: float, *, clock: Callable[[], float] = monotonic
    ) -> None:
        try:
            import httpx  # noqa: PLC0415 - only who calls a server needs it
        except ModuleNotFoundError:
            raise ModelMissing(address.model, "httpx is not installed", _EXTRA) from None
        self.address = address
        self._httpx = httpx
        self._clock = clock
        self._answer_s = answer_s
        self._rest_until = 0.0
        headers = {"accept-encoding": "identity"}
        if key is not None:
            headers["authorization"] = f"Bearer {key}"
        verify = ssl.create_default_context() if address.url.startswith("https:") else False
        # only our own settings are read from the environment
        self._client = httpx.AsyncClient(headers=headers, trust_env=False, verify=verify)
        self._lock = Lock()
        self._thread: LoopThread | None = None
        self._is_closed = False

    def post(self, path: str, body: dict[str, Any], within_s: float | None = None) -> Any:  # noqa: ANN401 - JSON
        """Return the answer to a request, which takes ``within_s`` seconds at most where that is less than usual.

        Raises:
            RefusedError: if the server says that the request itself cannot be answered.
            Unavailable: if there is no answer, or none that can be read.
        """
        status, headers, said = self._sent("POST", path, body, within_s)
        return self._told(status, headers, said)

    def get(self, path: str, within_s: float | None = None) -> Any:  # noqa: ANN401 - as above
        """Return what the server says at ``path``, ``None`` where it has no such page; raises what ``post`` does."""
        status, headers, said = self._sent("GET", path, None, within_s)
        return None if status in _ABSENT else self._told(status, headers, said)

    def close(self) -> None:
        """Let go of the connections; calls that still wait have no answer then."""
        with self._lock:
            self._is_closed = True
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.call(self._end())
            thread.__exit__()

    async def _end(self) -> None:
        await cancel_others()
        await self._client.aclose()

    def unfit(self, what: str) -> NoReturn:
        """Say that an answer cannot be used, or that there is none.

        Raises:
            Unavailable: always, with the endpoint's name.
        """
        msg = f"{self.address}: {what}"
        raise Unavailable(msg)

    def _told(self, status: int, headers: httpx.Headers, said: bytes) -> Any:  # noqa: ANN401 - JSON
        if status != HTTPStatus.OK:
            self._fail(status, headers, said)
        try:
            return json.loads(said)
        except (ValueError, RecursionError):
            self.unfit(f"its answer is no JSON: {_shown(said)}")

    def _sent(
        self, method: str, path: str, body: dict[str, Any] | None, within_s: float | None
    ) -> tuple[int, httpx.Headers, bytes]:
        rest = self._rest_until - self._clock()
        if rest > 0:
            self.unfit(f"it asked for a rest, {math.ceil(rest)} s of it are left")
        limit = min(within_s or self._answer_s, self._answer_s)
        try:
            return self._begun(method, path, body, limit).result()
        except TimeoutError:
            self.unfit(f"its answer took over {limit:g} s")
        except (self._httpx.HTTPError, self._httpx.InvalidURL) as error:
            self.unfit(f"no answer: {type(error).__name__}: {error}")
        except (RuntimeError, CancelledError):
            self.unfit("no answer: the client was closed")

    def _begun(
        self, method: str, path: str, body: dict[str, Any] | None, limit: float
    ) -> Future[tuple[int, httpx.Headers, bytes]]:
        with self._lock:
            if self._is_closed:
                self.unfit("the client was closed")
            if self._thread is None:
                self._thread = LoopThread("anabranch-endpoint").__enter__()
            return self._thread.begin(self._exchanged(method, path, body, limit))

    async def _exchanged(
        self, method: str, path: str, body: dict[str, Any] | None, limit: float
    ) -> tuple[int, httpx.Headers, bytes]:
        """Make a request; the client's own timeout begins again with each part of an answer, so all of it has one."""
        timeout = self._httpx.Timeout(limit, connect=min(_CONNECT_S, limit))
        url, deadline = f"{self.address.url}/{path}", self._clock() + limit
        async with asyncio.timeout(limit), self._client.stream(method, url, json=body, timeout=timeout) as response:
            packed = response.headers.get("content-encoding", "identity")
            if packed != "identity":  # what is small when packed may be endless
                self.unfit(f"its answer is packed ({packed[:20]}), though it was asked not to")
            return response.status_code, response.headers, await self._read(response.aiter_raw(), deadline, limit)

    async def _read(self, parts: AsyncIterable[bytes], deadline: float, limit: float) -> bytes:
        """Read an answer of bounded size in bounded time."""
        read = bytearray()
        async for part in parts:
            read += part
            if len(read) > _ANSWER:
                self.unfit(f"its answer is over {_ANSWER >> 20} MB")
            if self._clock() > deadline:
                self.unfit(f"its answer took over {limit:g} s")
        return bytes(read)

    def _fail(self, status: int, headers: httpx.Headers, said: bytes) -> NoReturn:
        if status in _REFUSALS:
            msg = f"{self.address} refuses the request ({status}): {_shown(said)}"
            raise RefusedError(msg)
        if status in _BUSY:
            self._rest(headers.get("retry-after", ""))
        self.unfit(f"status {status}: {_shown(said)}{_KEY_HINT if status in _KEYLESS else ''}")

    def _rest(self, asked: str) -> None:
        """Make no request for as long as the server asks for, where it says so in seconds."""
        try:
            seconds = float(asked)
        except ValueError:
            return
        if seconds > 0:
            self._rest_until = self._clock() + min(seconds, _LONGEST_REST_S)


def sendable(text: str) -> str:
    """Return text as JSON in UTF-8 can hold it: a lone surrogate becomes a question mark, as for our own encoder."""
    return text.encode("utf-8", "replace").decode()


def _shown(said: bytes) -> str:
    return said[:_SAID].decode("utf-8", "replace").strip() or "no words"
