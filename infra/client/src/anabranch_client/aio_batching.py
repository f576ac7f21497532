"""A publisher that gathers turns, for asyncio: a lane for each space that has some, one request of it in flight."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from types import TracebackType
from typing import Final, Self

from anabranch_client.answers import Accepted
from anabranch_client.calls import broken_off, is_ended, unsent
from anabranch_client.errors import AnabranchError, WrongUse
from anabranch_client.lane import BatchLimits, Lane, Waiting
from anabranch_client.parts import Encoded, encoded
from anabranch_client.room import Room
from anabranch_client.turns import Turn, check_space

_LOG = logging.getLogger("anabranch_client")

_SPACES_AT_ONCE: Final = 64
"""Requests in flight: fewer than the client's connections, so that none waits for one."""

PublishEach = Callable[[str, Sequence[Encoded]], Awaitable[Sequence[Accepted | AnabranchError]]]


class AsyncBatching:
    """Gathers turns and publishes those of a space together and in order; spaces go side by side.

    A turn is never overtaken by a later one of its space: where turns may come again, those that wait behind them fail
    too, so that the caller can send all of them again in order. A turn that is refused for what it is fails alone.
    Failures are told to the future of each turn, and to the logger ``anabranch_client``.
    """

    def __init__(self, publish_each: PublishEach, limits: BatchLimits) -> None:
        self._publish_each = publish_each
        self._limits = limits
        self._room = Room(limits.max_waiting_bytes)
        self._slots = asyncio.Semaphore(_SPACES_AT_ONCE)
        self._lanes: dict[str, tuple[Lane, asyncio.Task[None]]] = {}
        self._is_closed = False

    async def send(self, space: str, turn: Turn) -> asyncio.Future[Accepted]:
        """Take a turn, and return what will tell when the log has it. Waits while too many bytes wait.

        Raises:
            WrongUse: if the space can't be one, or the publisher is closed.
        """
        one = encoded(check_space(space), turn)
        await self._room.take(len(one.payload))
        if self._is_closed:
            self._room.give(len(one.payload))
            msg = f"turn {turn.turn_id} of {space} came to a publisher that is closed"
            raise WrongUse(msg)
        return self._put(space, one)

    def put(self, space: str, one: Encoded) -> asyncio.Future[Accepted]:
        """Take a turn at once, in the thread of the loop, for who bounds by itself what waits."""
        self._room.note(len(one.payload))
        return self._put(space, one)

    def _put(self, space: str, one: Encoded) -> asyncio.Future[Accepted]:
        loop = asyncio.get_running_loop()
        waiting = Waiting(one, loop.create_future(), loop.time())
        self._lane(space).add(waiting)
        return waiting.future

    async def flush(self) -> None:
        """Return when each turn sent so far has its end: accepted or failed, as its future says."""
        futures = []
        for lane, _ in self._lanes.values():
            lane.hurry()
            futures += [one.future for one in (*lane.in_flight, *lane.waiting)]
        if futures:
            await asyncio.wait(futures)

    async def close(self) -> None:
        """Send what waits, and take no more. If it is cancelled, what was not sent fails."""
        self._is_closed = True
        for lane, _ in self._lanes.values():
            lane.hurry()
        await asyncio.gather(*(task for _, task in self._lanes.values()))

    async def __aenter__(self) -> Self:
        """Return the publisher."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Send what waits, and take no more."""
        await self.close()

    def _lane(self, space: str) -> Lane:
        if space not in self._lanes:
            lane = Lane(space, self._limits)
            self._lanes[space] = lane, asyncio.create_task(self._run(lane))
        return self._lanes[space][0]

    async def _run(self, lane: Lane) -> None:
        """Send what the lane holds, one request after another; end when it is empty."""
        try:
            while lane.waiting:
                await lane.gathered()
                async with self._slots:
                    taken = lane.take()
                    outcomes = await self._outcomes(lane.space, taken)
                self._end(lane.space, taken, outcomes)
                lane.landed()
                if not is_ended(outcomes[-1]):
                    self._give_up(lane)
        finally:
            del self._lanes[lane.space]
            self._give_up(lane)  # of a lane that was cancelled something is left

    async def _outcomes(self, space: str, taken: Sequence[Waiting]) -> Sequence[Accepted | Exception]:
        try:
            return await self._publish_each(space, [one.turn for one in taken])
        except Exception as error:  # noqa: BLE001 - whatever it is, those who wait for these turns must hear of it
            return [error] * len(taken)

    def _give_up(self, lane: Lane) -> None:
        """End what is left: turns in flight are left only where the lane was cancelled."""
        for left, end in ((lane.in_flight, broken_off), (lane.waiting, unsent)):
            if left:
                self._end(lane.space, left, [end(lane.space, one.turn) for one in left])
        lane.drop()

    def _end(self, space: str, ended: Collection[Waiting], outcomes: Sequence[Accepted | Exception]) -> None:
        for one, outcome in zip(ended, outcomes, strict=True):
            self._room.give(len(one.turn.payload))
            one.end(outcome)
        failed = [outcome for outcome in outcomes if not isinstance(outcome, Accepted)]
        if failed:
            _LOG.warning("%d turns of %s are not accepted: %s", len(failed), space, failed[0])
