"""Requests in the terms of httpx, and its errors in ours."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from ssl import SSLContext
from typing import Any, Final

import httpx

from anabranch_client.errors import WrongUse
from anabranch_client.retries import Answer, Failure, Retries, Send, Timeouts

_UNSENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_LATE: Final = (httpx.ReadTimeout, httpx.WriteTimeout, httpx.PoolTimeout)
_BROKEN: Final = (httpx.NetworkError, httpx.TimeoutException, httpx.RemoteProtocolError, httpx.ProxyError)
"""What another try may mend. All else is a request or an answer that would be the same again."""

_CONNECTIONS: Final = 100
_SHORTEST_S: Final = 0.001
"""A last try gets at least this: no time at all would be no limit to some transports."""


def _version() -> str:
    try:
        return version("anabranch-client")
    except PackageNotFoundError:  # run from its sources
        return "0"


@cache
def _default_tls() -> SSLContext:
    """Return what trusts the usual authorities: reading them takes longer than all else that a client begins with."""
    return httpx.create_ssl_context()


@dataclass(frozen=True, slots=True)
class Options:
    """Where a gateway is, and how it is asked."""

    url: str
    key: str | None
    timeouts: Timeouts = field(default_factory=Timeouts)
    retries: Retries = field(default_factory=Retries)
    tls: SSLContext | None = None

    def __post_init__(self) -> None:
        """Check what would fail at every request."""
        url = httpx.URL(self.url)
        if url.scheme not in {"http", "https"} or not url.host:
            msg = f"the address of a gateway is written https://HOST[:PORT]; got {self.url!r}"
            raise WrongUse(msg)
        if self.key is not None and (not self.key.isascii() or not self.key.isprintable() or " " in self.key):
            msg = "an API key is printable ASCII without spaces, as `anabranch keys create` printed it"
            raise WrongUse(msg)

    def http(self) -> dict[str, Any]:
        """Return the arguments of an httpx client."""
        headers = {"User-Agent": f"anabranch-client/{_version()}", "Accept": "application/json"}
        if self.key is not None:
            headers["Authorization"] = f"Bearer {self.key}"
        limits = httpx.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=_CONNECTIONS)
        return {"base_url": self.url, "headers": headers, "limits": limits, "verify": self.tls or _default_tls()}

    def arguments(self, send: Send) -> dict[str, Any]:
        """Return the arguments of a request."""
        headers = {"X-Request-Id": send.request.about.request_id}
        if send.request.body is not None:
            headers["Content-Type"] = "application/json"
        left = max(send.left_s, _SHORTEST_S) if self.retries.deadline_s else self.timeouts.read_s
        read, connect = min(left, self.timeouts.read_s), min(left, self.timeouts.connect_s)
        return {
            "method": send.request.method,
            "url": send.request.path,
            "content": send.request.body,
            "headers": headers,
            "timeout": httpx.Timeout(read, connect=connect, pool=left),
        }


def answer(response: httpx.Response) -> Answer:
    """Return what came back."""
    return Answer(response.status_code, response.headers, response.content)


def failure(error: httpx.RequestError) -> Failure:
    """Return why nothing came back."""
    return Failure(
        str(error) or type(error).__name__,
        is_sent=not isinstance(error, _UNSENT),
        is_late=isinstance(error, _LATE),
        is_lasting=not isinstance(error, _BROKEN),
    )
