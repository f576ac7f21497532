"""A tenant that one process of a cluster consolidates: a consumer group with one member, which the broker knows of.

Who wants it looks whether the group has a member, joins, and looks again: whoever then sees another one leaves. Of two
that come at once the later to join sees the other, so at most one goes on (and perhaps none: then the next run does). A
process that is killed is out of the group when its session has passed. The group follows ``memory`` and reads nothing
of it: what it commits are the offsets of the snapshot that the last good run began with, with the time when it began.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from typing import Any, Final

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError
from aiokafka.structs import OffsetAndMetadata

from infra.errors import MissingError
from infra.nights.api import RunBusy
from infra.workers.groups import members
from stages.contract import Unavailable
from streams.kafka.names import FIRST_GENERATION, group_of

SESSION_MS: Final = 10_000
"""How long a killed process keeps its tenant."""

_DAY_MS: Final = 24 * 3600 * 1000
"""A member that fetches nothing for so long leaves its group; a run fetches nothing at all, and is over by then."""

_STAGE: Final = "consolidate"
_clients = count()


def group_name(tenant: str, generation: int = FIRST_GENERATION) -> str:
    """Return the group of a tenant. The slash ends what the generation is told in: no tenant's name has one."""
    return f"{group_of(_STAGE, generation)}/{tenant}"


def _client() -> str:
    host = re.sub(r"[^\w.-]", "_", socket.gethostname())
    return f"anabranch-{_STAGE}-{os.getpid()}.{next(_clients)}@{host}"


class _Watch(ConsumerRebalanceListener):  # type: ignore[misc]  # the client has no types
    """Notes that the group has changed: somebody came, or this process was out of it for a while."""

    def __init__(self, consumer: AIOKafkaConsumer) -> None:
        self._consumer = consumer
        self.changed = False

    async def on_partitions_revoked(self, revoked: Any) -> None:  # noqa: ANN401 - the client's own signature
        """Note it."""
        self.changed = self.changed or bool(revoked)

    async def on_partitions_assigned(self, assigned: Any) -> None:  # noqa: ANN401 - as above
        """Let nothing be fetched."""
        self._consumer.pause(*assigned)


@dataclass
class Owner:
    """Implements ``Held``. ``offsets`` are those of the snapshot that the run began with, by partition."""

    bootstrap: str
    topic: str
    tenant: str
    generation: int
    offsets: Mapping[int, int]
    client: str = field(default_factory=_client)
    _consumer: AIOKafkaConsumer = field(init=False)
    _watch: _Watch = field(init=False)

    async def others(self) -> list[str]:
        """Return who else is in the group."""
        group = group_name(self.tenant, self.generation)
        found = await asyncio.to_thread(members, self.bootstrap, [(_STAGE, group)])
        return [one.client for one in found if one.client != self.client]

    async def must_be_alone(self) -> None:
        """See that nobody else is in the group.

        Raises:
            RunBusy: if somebody is.
        """
        if others := await self.others():
            who = ", ".join(name.removeprefix(f"anabranch-{_STAGE}-") for name in others)
            msg = (
                f"{self.tenant} is being consolidated already, by process {who}: wait until it has ended; one that was "
                f"killed is forgotten after {SESSION_MS // 1000} s"
            )
            raise RunBusy(msg)

    async def join(self) -> None:
        """Become a member of the group."""
        self._consumer = AIOKafkaConsumer(
            bootstrap_servers=self.bootstrap,
            client_id=self.client,
            group_id=group_name(self.tenant, self.generation),
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            session_timeout_ms=SESSION_MS,
            max_poll_interval_ms=_DAY_MS,
        )
        self._watch = _Watch(self._consumer)
        self._consumer.subscribe([self.topic], listener=self._watch)
        await self._consumer.start()

    async def leave(self) -> None:
        """Leave the group."""
        await self._consumer.stop()

    async def must_hold(self) -> None:
        """See that the tenant is this process's still; asks the broker only where the group has changed.

        Raises:
            RunBusy: if another process is in the group.
        """
        if self._watch.changed:
            self._watch.changed = False
            await self.must_be_alone()

    async def succeeded(self, at: datetime) -> None:
        """Commit the offsets of the snapshot that the run began with, and when that was.

        Raises:
            Unavailable: if the broker does not take it.
        """
        told = {
            TopicPartition(self.topic, part): OffsetAndMetadata(offset, at.isoformat())
            for part, offset in self.offsets.items()
        }
        try:
            await self._consumer.commit(told)
        except KafkaError as error:
            msg = f"Kafka at {self.bootstrap} did not take the end of the run over {self.tenant}: {error!r}"
            raise Unavailable(msg) from error


@asynccontextmanager
async def owned(owner: Owner) -> AsyncIterator[Owner]:
    """Own a tenant inside the block.

    Raises:
        RunBusy: if another process does; the message names it.
        MissingError: if no broker answers.
    """
    await owner.must_be_alone()
    try:
        await owner.join()
        await owner.must_be_alone()
        yield owner
    except KafkaError as error:
        msg = f"no Kafka answers at {owner.bootstrap} ({error!r}); start one, or see ANABRANCH_KAFKA"
        raise MissingError(msg) from error
    finally:
        await owner.leave()


async def successes(bootstrap: str, generation: int = FIRST_GENERATION) -> dict[str, datetime]:
    """Return when the last run over each tenant began that ended well, as their groups say.

    A cluster forgets a group a week after its last commit (``offsets.retention.minutes``).

    Raises:
        MissingError: if no broker answers.
    """
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap, client_id="anabranch-reads")
    found: dict[str, datetime] = {}
    try:
        await admin.start()
        for group, *_ in await admin.list_consumer_groups():
            begin, slash, tenant = str(group).partition("/")
            if slash and begin == group_of(_STAGE, generation):
                times = [one.metadata for one in (await admin.list_consumer_group_offsets(group)).values()]
                found |= {tenant: datetime.fromisoformat(max(times))} if any(times) else {}
    except KafkaError as error:
        msg = f"no Kafka answers at {bootstrap} ({error!r}); start one, or see ANABRANCH_KAFKA"
        raise MissingError(msg) from error
    finally:
        await admin.close()
    return found
