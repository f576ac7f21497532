"""An OpenAI-compatible endpoint for chat completions, over HTTP: bounded in time, in size and in how many at once."""

from __future__ import annotations

import asyncio
import hmac
import logging
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from random import uniform  # noqa: TID251 - waits are spread by chance; no result depends on it
from typing import Any, Final

import httpx

from infra.models.completion import Completion, NotNow, completion_of
from stages.contract import Unavailable

_CONNECT_S: Final = 5.0
_LARGEST: Final = 4 * 1024 * 1024
"""Bytes of a body: a completion of 100,000 tokens has a tenth of it."""
_PAUSE_S: Final = 30.0
"""Longest pause that an endpoint is granted: one that asks for an hour is asked now and then all the same."""
_SPREAD: Final = 0.25
"""By how much of itself a pause is lengthened by chance, so that not all come back at once."""
_SHORT_S: Final = 0.2
"""Longest pause, drawn by chance, after a call without an answer that asked for none."""


@dataclass
class ChatEndpoint:
    """Calls ``url``/chat/completions. ``timeout`` (s) bounds a whole call, however its body drips in.

    ``salt`` is a secret: with it each tenant gets a ``cache_salt`` of its own (vLLM), so that nobody can tell from the
    time of an answer whether another tenant had asked with the same prefix.
    """

    url: str
    model: str
    timeout: float = 60.0
    concurrency: int = 8
    key: str | None = None
    salt: str | None = None
    _client: httpx.AsyncClient | None = None
    _free: asyncio.Semaphore = field(init=False)
    _closed_until: float = 0.0

    def __post_init__(self) -> None:
        self._free = asyncio.Semaphore(self.concurrency)

    async def complete(self, body: Mapping[str, Any], tenant: str) -> tuple[Completion, float]:
        """Return the answer to a body, and the seconds that it took.

        Raises:
            Unavailable: if there is none: 429, 5xx, no connection, a reset, or no end in time.
        """
        salted = dict(body) if self.salt is None else {**body, "cache_salt": _salt(self.salt, tenant)}
        loop = asyncio.get_running_loop()
        async with self._free:
            await self._pause()
            begun = loop.time()
            try:
                answer = await self._bounded(salted)
            except Unavailable as reason:
                self._rest(reason)
                raise
            return answer, loop.time() - begun

    def _rest(self, reason: Unavailable) -> None:
        """Let all wait for as long as is asked for, or for a moment; no word shortens what another asked for."""
        asked = reason.seconds if isinstance(reason, NotNow) else uniform(0.0, _SHORT_S)  # noqa: S311 - no secret
        until = asyncio.get_running_loop().time() + min(_PAUSE_S, asked)
        self._closed_until = max(self._closed_until, until)

    async def _pause(self) -> None:
        """Wait for as long as the endpoint asked for, and a little more; it may ask for more meanwhile."""
        while (left := self.pause_left()) > 0:  # noqa: ASYNC110 - no event: it is a time that may move
            await asyncio.sleep(left * uniform(1.0, 1.0 + _SPREAD))  # noqa: S311 - no secret

    def pause_left(self) -> float:
        """Return for how many seconds more the endpoint wants no call."""
        return max(0.0, self._closed_until - asyncio.get_running_loop().time())

    async def _bounded(self, body: Mapping[str, Any]) -> Completion:
        try:
            async with asyncio.timeout(self.timeout):
                return await self._call(body)
        except TimeoutError as error:
            msg = f"{self.url} has not answered within {self.timeout:g} s; see ANABRANCH_MODEL_TIMEOUT"
            raise Unavailable(msg) from error
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            msg = f"{self.url} does not answer: {str(error) or type(error).__name__}"
            raise Unavailable(msg) from error

    async def _call(self, body: Mapping[str, Any]) -> Completion:
        async with self._connected().stream("POST", f"{self.url}/chat/completions", json=body) as response:
            read = await self._read(response)
        try:
            return completion_of(self.url, response.status_code, response.headers, read)
        except Unavailable:
            raise
        except Exception as error:  # whatever it was that it said, it is no answer: a turn waits, and is no letter
            msg = f"{self.url} answers what cannot be read ({error!r})"
            raise Unavailable(msg) from error

    async def _read(self, response: httpx.Response) -> bytes:
        """Return a body as it came: what is small when packed may be endless, so nothing is unpacked."""
        packed = response.headers.get("content-encoding", "identity")
        if packed != "identity":
            msg = f"{self.url} answers packed ({packed[:20]}), though it was asked not to"
            raise Unavailable(msg)
        taken = bytearray()
        async for part in response.aiter_raw():
            taken += part
            if len(taken) > _LARGEST:
                msg = f"{self.url} answers more than {_LARGEST} bytes, which is no completion"
                raise Unavailable(msg)
        return bytes(taken)

    def _connected(self) -> httpx.AsyncClient:
        if self._client is None:
            logging.getLogger("httpx").setLevel(logging.WARNING)  # it tells of every call
            headers = {"accept-encoding": "identity"}
            if self.key is not None:
                headers["authorization"] = f"Bearer {self.key}"
            secure = self.url.startswith("https:")
            self._client = httpx.AsyncClient(
                headers=headers,
                timeout=httpx.Timeout(None, connect=_CONNECT_S),  # the whole call is bounded, whatever it does
                limits=httpx.Limits(max_connections=self.concurrency),
                trust_env=False,  # only our own settings are read from the environment
                verify=ssl.create_default_context() if secure else False,
            )
        return self._client

    async def close(self) -> None:
        """Let go of the connections."""
        if self._client is not None:
            await self._client.aclose()


def _salt(secret: str, tenant: str) -> str:
    return hmac.new(secret.encode(), tenant.encode(), sha256).hexdigest()
