"""The client for programs with threads."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import closing
from ssl import SSLContext
from types import TracebackType
from typing import Self, TypeVar, Unpack

import httpx

from anabranch_client.aio import AsyncClient
from anabranch_client.answers import Accepted, Answer, Bundle, Recalled, TurnState
from anabranch_client.asking import Answering, Asking, ContextOptions
from anabranch_client.batching import Batching
from anabranch_client.calls import Calls, Flow
from anabranch_client.errors import WrongUse
from anabranch_client.lane import LINGER_MS, MAX_WAITING_BYTES, BatchLimits
from anabranch_client.parts import MAX_BYTES, MAX_TURNS
from anabranch_client.retries import Outcome, Retries, Send, Timeouts
from anabranch_client.turns import Turn
from anabranch_client.wire import Options, answer, failure

T = TypeVar("T")


class Client:
    """A gateway, for programs with threads; many threads may share one. ``AsyncClient`` has the same methods.

    Each method raises the errors of ``anabranch_client.errors``, after the tries that ``retries`` allows. ``tls`` is
    for a gateway whose certificate the usual authorities did not sign, ``transport`` for proxies and tests.

    Raises:
        WrongUse: if the address or the key can't be one.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeouts: Timeouts | None = None,
        retries: Retries | None = None,
        tls: SSLContext | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._options = Options(url, key, timeouts or Timeouts(), retries or Retries(), tls)
        self._calls = Calls(self._options.retries)
        self._has_transport = transport is not None
        self._http = httpx.Client(transport=transport, **self._options.http())

    def publish(self, space: str, turn: Turn) -> Accepted:
        """Publish a turn; return once the log has it."""
        return self._run(self._calls.publish(space, [turn]))

    def publish_many(self, space: str, turns: Iterable[Turn]) -> Accepted:
        """Publish turns in their order; return once the log has all.

        They go in requests of up to 100 turns or 512 KB, one after another; others who publish to the space have their
        turn between them. Where one fails, ``accepted`` of the error names the turns of those before it.
        """
        return self._run(self._calls.publish(space, turns))

    def recall(self, space: str, question: str, **how: Unpack[Asking]) -> Recalled:
        """Ask a question; it sees this client's own last write to the space, or says that it is stale."""
        return self._run(self._calls.recall(space, question, how))

    def answer(self, space: str, question: str, **how: Unpack[Answering]) -> Answer:
        """Ask for an answer, with the turns that it rests on; the gateway's language model takes some seconds for it.

        It sees this client's own last write to the space, or says that it is stale.
        """
        return self._run(self._calls.answer(space, question, how))

    def context(self, space: str, text: str, **how: Unpack[ContextOptions]) -> Bundle:
        """Return what an agent should have before it when it answers ``text``, a turn that is not published."""
        return self._run(self._calls.context(space, text, how))

    def turn(self, space: str, turn_id: str) -> TurnState:
        """Return where a turn is.

        Raises:
            NotFound: if the log has no such turn.
        """
        return self._run(self._calls.turn(space, turn_id))

    def batching(
        self,
        max_turns: int = MAX_TURNS,
        max_bytes: int = MAX_BYTES,
        linger_ms: float = LINGER_MS,
        max_waiting_bytes: int = MAX_WAITING_BYTES,
    ) -> Batching:
        """Return a publisher that gathers turns; use it in a ``with`` block."""
        if self._has_transport:
            msg = "a client with a transport of its own has no batching: take AsyncClient"
            raise WrongUse(msg)
        limits = BatchLimits(max_turns, max_bytes, linger_ms, max_waiting_bytes)
        return Batching(lambda: AsyncClient.like(self._options, self._calls), limits)

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        """Return the client."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Let go of the connections."""
        self.close()

    def _run(self, flow: Flow[T]) -> T:
        with closing(flow):  # it leaves its place in a queue, however this ends
            try:
                step = next(flow)
                while True:
                    if isinstance(step, Send):
                        step = flow.send(self._outcome(step))
                    else:
                        step.result()
                        step = next(flow)
            except StopIteration as end:
                value: T = end.value
                return value

    def _outcome(self, send: Send) -> Outcome:
        if send.delay_s > 0:
            time.sleep(send.delay_s)
        try:
            return answer(self._http.request(**self._options.arguments(send)))
        except httpx.RequestError as error:
            return failure(error)
