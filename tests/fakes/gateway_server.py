"""A gateway of a few lines that keeps the contract over real sockets, and fails when it is told to."""

from __future__ import annotations

import json
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any
from urllib.parse import unquote

from tests.fakes.gateway_answers import ANSWER, BUNDLE, RECALLED

KEY = "key-of-acme"
TENANT = "acme"


class Fault(Enum):
    """What becomes of a request."""

    NONE = "it is answered"
    DROP_BEFORE = "the connection breaks, and nothing was taken"
    DROP_AFTER = "the connection breaks after the turns were taken"
    STALL_BEFORE = "no answer, and nothing was taken"
    STALL_AFTER = "no answer after the turns were taken"
    BUSY = "503, and nothing was taken"
    BUSY_AFTER = "504 after the turns were taken"
    TOO_MANY = "429, to come again at once"


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of the test's own choice; nothing is taken."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass
class GatewayServer:
    """What the gateway did: ``log`` is what it took, by space, repeats among it."""

    url: str = ""
    faults: deque[Fault | Reply] = field(default_factory=deque)
    asked: list[Asked] = field(default_factory=list)
    log: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    most_at_once: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    max_turns: int = 1000
    pause_s: float = 0.0
    """How long each publish takes."""
    gathering: int = 0
    """Publishes are held until so many were in flight at once."""
    called: Event = field(default_factory=Event)
    gathered: Event = field(default_factory=Event)
    stopped: Event = field(default_factory=Event)
    _busy: Counter[str] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    def distinct(self, space: str) -> list[str]:
        """Return the turn ids of a space in the order in which they came first."""
        return list(dict.fromkeys(self.log[space]))

    def fault(self) -> Fault | Reply:
        """Return what becomes of the next request."""
        with self._lock:
            return self.faults.popleft() if self.faults else Fault.NONE

    def begin(self, space: str) -> None:
        """Count a request in flight."""
        with self._lock:
            self._busy[space] += 1
            for name, busy in ((space, self._busy[space]), ("", self._busy.total())):
                self.most_at_once[name] = max(self.most_at_once[name], busy)
            if self._busy.total() >= self.gathering:
                self.gathered.set()

    def end(self, space: str) -> None:
        """Count it no more."""
        with self._lock:
            self._busy[space] -= 1

    def take(self, space: str, turn_ids: Sequence[str]) -> None:
        """Append to the log."""
        with self._lock:
            self.log[space] += turn_ids


def problem(status: int, title: str, detail: str | None = None, **more: Any) -> Reply:
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail} | more
    return Reply(status, json.dumps(body).encode(), {"Content-Type": "application/problem+json"})


def answer(body: object, status: int = 200) -> Reply:
    return Reply(status, json.dumps(body).encode(), {"Content-Type": "application/json"})


_ANSWERS = {
    Fault.BUSY: problem(503, "the log is away"),
    Fault.BUSY_AFTER: Reply(504, b"<html>"),
    Fault.TOO_MANY: Reply(429, headers={"Retry-After": "0"}),
    **dict.fromkeys((Fault.DROP_BEFORE, Fault.DROP_AFTER, Fault.STALL_BEFORE, Fault.STALL_AFTER)),
}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    gateway: GatewayServer

    def log_message(self, *_: object) -> None:
        """Be silent."""

    def do_GET(self) -> None:
        self._handle(None)

    def do_POST(self) -> None:
        self._handle(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _handle(self, body: Any) -> None:
        self.gateway.asked.append(Asked(self.command, self.path, dict(self.headers), body))
        self.gateway.called.set()
        _, _, _, tenant, name, what, *rest = self.path.split("/")
        space = f"{unquote(tenant)}/{unquote(name)}"
        self.gateway.begin(space)
        reply = None
        try:
            reply = self._reply(space, what, body, unquote("/".join(rest)))
        finally:
            self.gateway.end(space)  # before the answer, so that the client's next request is never counted beside it
            self._send(reply)

    def _reply(self, space: str, what: str, body: Any, turn_id: str) -> Reply | None:
        if self.headers["Authorization"] != f"Bearer {KEY}":
            return problem(401, "no key, or one that is not known")
        if not space.startswith(f"{TENANT}/"):
            return problem(404, "no such space")
        fault = self.gateway.fault()
        if isinstance(fault, Reply):
            return fault
        if what != "turns" or self.command == "GET":
            return None if fault is not Fault.NONE else self._read(space, what, turn_id)
        taken = self._published(space, body.get("turns", [body]), fault)
        return taken if taken.status != 202 else _ANSWERS.get(fault, taken)

    def _read(self, space: str, what: str, turn_id: str) -> Reply:
        if what == "turns":
            known = turn_id in self.gateway.log[space]
            state = {"turn_id": turn_id, "position": None, "state": "pending", "reason": None}
            return answer(state) if known else problem(404, "no such turn")
        return answer({"recall": RECALLED, "answer": ANSWER, "context": BUNDLE}[what])

    def _published(self, space: str, turns: Sequence[Any], fault: Fault) -> Reply:
        ids = [turn["turn_id"] for turn in turns]
        if len(turns) > self.gateway.max_turns:
            return problem(413, "too many turns")
        blank = [number for number, turn in enumerate(turns) if not turn["text"].strip()]
        if blank:
            return problem(422, "blank", f"turns.{blank[0]}.text", turn_id=ids[blank[0]])
        self.gateway.gathered.wait(10.0)
        self.gateway.stopped.wait(self.gateway.pause_s)
        if fault in {Fault.NONE, Fault.DROP_AFTER, Fault.STALL_AFTER, Fault.BUSY_AFTER}:
            self.gateway.take(space, ids)
        if fault in {Fault.STALL_BEFORE, Fault.STALL_AFTER}:
            self.gateway.stopped.wait(1.0)
        return answer({"turn_ids": ids, "after": ids[-1], "of_a_newer_gateway": 1}, 202)

    def _send(self, reply: Reply | None) -> None:
        if reply is None:
            self.close_connection = True
            return
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)


class _Server(ThreadingHTTPServer):
    request_queue_size = 256
    block_on_close = False
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Be silent: clients that went away are what these tests are about."""


@contextmanager
def serving() -> Iterator[GatewayServer]:
    """Give a gateway that answers on a free port."""
    gateway = GatewayServer()
    handler = type("Handler", (_Handler,), {"gateway": gateway, "disable_nagle_algorithm": True})
    with _Server(("127.0.0.1", 0), handler) as server:
        gateway.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield gateway
        finally:
            gateway.stopped.set()
            server.shutdown()
            thread.join()
