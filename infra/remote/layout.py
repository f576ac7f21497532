"""The topics of a generation on a cluster, with their numbers of partitions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from infra.errors import MissingError
from streams.kafka.names import FIRST_GENERATION, LETTERS, state_topic, topic_name
from streams.kafka.wire import partition_of
from streams.topology import FIRST, FLOW, LAST


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a generation's records lie: topics by what they hold, and the partition of a space in each."""

    bootstrap: str
    partitions: Mapping[str, int]
    generation: int = FIRST_GENERATION

    @property
    def log(self) -> str:
        """The log of events, which all generations share."""
        return FIRST.source.name

    @property
    def numbered(self) -> str:
        """What the first stage puts out: events with their positions."""
        return topic_name(FIRST.target.name, self.generation)

    @property
    def memory(self) -> str:
        """The rows of memory."""
        return topic_name(LAST.target.name, self.generation)

    def partition(self, topic: str, space: str) -> int:
        """Return the partition of a space in a topic."""
        return partition_of(space, self.partitions[topic])


async def read_layout(bootstrap: str, generation: int = FIRST_GENERATION) -> Layout:
    """Ask a cluster for the topics of a generation.

    Raises:
        MissingError: if it does not answer, or a topic is not there; it says which and what to do.
    """
    states = [state_topic(step.name, generation) for step in FLOW]
    names = [FIRST.source.name, topic_name(FIRST.target.name, generation)]
    names += [topic_name(LAST.target.name, generation), LETTERS, *states]
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap, client_id="anabranch-reads")
    try:
        await admin.start()
        found = await admin.describe_topics(names)
    except KafkaError as error:
        msg = f"no Kafka answers at {bootstrap} ({error!r}); start one, or see ANABRANCH_KAFKA"
        raise MissingError(msg) from error
    finally:
        await admin.close()
    missing = sorted(topic["topic"] for topic in found if topic["error_code"])
    if missing:
        msg = f"Kafka at {bootstrap} lacks the topics {', '.join(missing)}: run `anabranch topics apply`"
        raise MissingError(msg)
    return Layout(bootstrap, {topic["topic"]: len(topic["partitions"]) for topic in found}, generation)
