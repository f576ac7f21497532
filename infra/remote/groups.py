"""Which stages have workers, as the consumer groups say."""

from __future__ import annotations

from collections import Counter

from infra.errors import MissingError
from infra.kafka_clients import quiet
from infra.workers import groups
from streams.kafka.names import FIRST_GENERATION, group_of
from streams.topology import FLOW


def members(bootstrap: str, generation: int = FIRST_GENERATION) -> dict[str, int] | None:
    """Return how many workers each stage has, or ``None`` if the cluster does not say. Asks, and waits for the answer.

    A stage that never had a worker has no group, and none now.
    """
    quiet()
    try:
        found = groups.members(bootstrap, [(step.name, group_of(step.name, generation)) for step in FLOW])
    except MissingError:
        return None
    counts = Counter(member.stage for member in found)
    return {step.name: counts[step.name] for step in FLOW}
