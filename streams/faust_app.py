"""The Faust application of a stage: its consumer group, its stream, its process life. The engine does the rest.

What is set here was measured on Apache Kafka 4.4 (architecture.md, section 7): Faust's committed offset runs ahead of
the work, so it is used for lag only; the agent's body hands over what has come and acknowledges it. The body takes it
out of its channel's queue in bulk: Faust's own iteration, one event after the other, took an eighth of a worker's time.
"""

from __future__ import annotations

import asyncio
import types
from collections.abc import Coroutine, Generator, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import faust
from aiokafka import TopicPartition
from aiokafka.errors import KafkaError
from faust.transport.drivers import aiokafka as driver

from streams.kafka.wire import Record, as_record
from streams.kafka.worker import Worker

BATCH: Final = 512
"""Records taken from the stream's queue at once, at most."""


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """How a worker is a member of its group; times are seconds."""

    bootstrap: str
    group: str
    client_id: str
    source: str
    partitions: int
    folder: Path
    session: float = 10.0
    instance_id: str = ""


class _Thread(driver.AIOKafkaConsumerThread):
    """Faust reads uncommitted records unless it is itself transactional; a publisher's aborted turns are no turns."""

    def _create_worker_consumer(self, transport: Any) -> Any:  # noqa: ANN401 - Faust's own
        consumer = super()._create_worker_consumer(transport)
        consumer._isolation_level = "read_committed"  # noqa: SLF001 - it has no setting of its own
        return consumer

    def verify_event_path(self, now: float, tp: Any) -> None:  # noqa: ANN401 - Faust's own
        """Look at nothing: Faust's stream is not iterated, which it would take for one that hangs. See ``Watchdog``."""


class _Consumer(driver.Consumer):
    async def wait_first(self, *coros: Any, timeout: Any = None) -> Any:  # noqa: ANN401, ASYNC109 - Faust's own
        """Wait as Faust does, but not where there is nothing to wait for.

        It hands over each record so, beside a wait for the end of the flow, and makes four tasks for that: a tenth of
        a worker's time. Nearly always there is room, and the record is handed over at once.
        """
        if timeout is None and asyncio.iscoroutine(coros[0]) and not self.suspend_flow.is_set():
            handing, *others = coros
            try:
                waits_for = handing.send(None)
            except BaseException as end:
                for other in others:
                    other.close()
                if isinstance(end, StopIteration):
                    return end.value
                raise
            coros = (_go_on(handing, waits_for), *others)
        return await super().wait_first(*coros, timeout=timeout)

    def _new_consumer_thread(self) -> _Thread:
        return _Thread(self, loop=self.loop, beacon=self.beacon)


class _Transport(driver.Transport):
    Consumer = _Consumer


async def _go_on(work: Coroutine[Any, Any, Any], waits_for: object) -> None:
    await _resumed(work, waits_for)


@types.coroutine
def _resumed(work: Coroutine[Any, Any, Any], waits_for: object) -> Generator[object, Any, None]:
    """Go on with a coroutine that was run up to its first wait."""
    try:
        while True:
            try:
                sent = yield waits_for
            except BaseException as error:  # noqa: BLE001 - whatever is thrown in is the work's to handle
                waits_for = work.throw(error)
            else:
                waits_for = work.send(sent)
    except StopIteration:
        return


class _Quiet(faust.Monitor):
    """Counts nothing of single records: the worker's own figures say all that is asked."""

    def on_message_in(self, *_: object) -> None:
        """Pass over a record that was fetched."""

    def on_message_out(self, *_: object) -> None:
        """Pass over a record that is done."""

    def on_stream_event_in(self, *_: object) -> None:
        """Pass over an event that comes to the agent."""

    def on_stream_event_out(self, *_: object) -> None:
        """Pass over an event that the agent has taken."""


def make_app(settings: GroupSettings, worker: Worker) -> faust.App:
    """Return the application that feeds ``worker``; it runs between its ``start`` and its ``stop``."""
    app = faust.App(
        settings.group,
        broker=f"aiokafka://{settings.bootstrap}",
        broker_client_id=settings.client_id,
        consumer_group_instance_id=settings.instance_id or None,
        datadir=str(settings.folder / "faust"),
        store="memory://",
        web_enabled=False,
        Monitor=_Quiet,
        topic_allow_declare=False,
        topic_disable_leader=True,
        topic_partitions=settings.partitions,
        table_standby_replicas=0,
        consumer_auto_offset_reset="earliest",
        consumer_max_fetch_size=16 * 1024 * 1024,
        broker_commit_interval=0.5,
        broker_session_timeout=settings.session,
        broker_heartbeat_interval=min(3.0, settings.session / 5),
        broker_rebalance_timeout=30.0,
        broker_request_timeout=max(20.0, settings.session + 5),
        broker_max_poll_records=256,
        stream_buffer_maxsize=2048,
        stream_wait_empty=False,
        stream_recovery_delay=0.0,
    )
    app.transport = _Transport(app.conf.broker_consumer, app)
    source = app.topic(settings.source, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw")

    async def assigned(_app: Any, assigned: Iterable[Any], *_: Any, **__: Any) -> None:  # noqa: ANN401 - Faust's own
        worker.assigned(tp.partition for tp in assigned if tp.topic == settings.source)

    async def revoked(_app: Any, revoked: Iterable[Any], *_: Any, **__: Any) -> None:  # noqa: ANN401 - Faust's own
        await worker.revoked([tp.partition for tp in revoked if tp.topic == settings.source])

    channels: list[Any] = []

    async def events(stream: Any) -> None:  # noqa: ANN401 - Faust's own
        if not channels:  # an agent that Faust starts again goes on with the channel that it has
            channels.append(aiter(stream.channel))
        queue = channels[0].queue
        while True:
            batch = [await queue.get()]
            while len(batch) < BATCH and not queue.empty():
                batch.append(queue.get_nowait())
            await worker.offer([_record(event.message) for event in batch])
            for event in batch:
                event.ack()

    app.on_partitions_assigned.connect(assigned, weak=False)  # type: ignore[arg-type]  # Faust types its callbacks without their second argument
    app.on_partitions_revoked.connect(revoked, weak=False)  # type: ignore[arg-type]  # as above
    app.agent(source, name=settings.group)(events)
    return app


def _record(message: Any) -> Record:  # noqa: ANN401 - Faust's own
    headers = message.headers.items() if isinstance(message.headers, dict) else message.headers or ()
    when = int(message.timestamp * 1000)
    return as_record(message.partition, message.offset, message.key, message.value, headers, at=when)


def lost_group(app: faust.App) -> BaseException | None:
    """Return what ended the consumer's part in its group, if something did: nobody gives it partitions any more.

    The client only logs it, and Faust waits for an assignment for ever.
    """
    try:
        task = app.consumer._thread._consumer._coordinator._coordination_task  # type: ignore[attr-defined]  # noqa: SLF001 - it tells nobody else
    except AttributeError:  # it has not begun
        return None
    return task.exception() if task.done() and not task.cancelled() else None


def end_of(app: faust.App, topic: str, partition: int) -> int | None:
    """Return where the input ends for readers of committed records, as of the last fetch; ``None`` if unknown."""
    try:
        consumer = app.consumer._thread._consumer  # type: ignore[attr-defined]  # noqa: SLF001 - it shows no such end
        end: int | None = consumer.last_stable_offset(TopicPartition(topic, partition))
    except (AttributeError, AssertionError, KafkaError):  # it has not begun, or the partition is not its own just now
        return None
    return end
