"""``doctor`` on the Kafka mode: the broker, its topics, the workers, the index on its server, and letters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from infra.cli.checks import Check, Verdict
from infra.errors import AnabranchError
from infra.kafka_clients import quiet
from infra.settings import Settings
from stages.contract import Unavailable

if TYPE_CHECKING:
    from infra.kafka import Cluster

_APPLY = "run `anabranch topics apply`; `anabranch topics diff` shows each difference"
_START = "start them with `anabranch worker STAGE`; what waits is kept in the log"


def kafka(servers: str, generation: int) -> Iterator[Check]:
    """Check all of the Kafka mode that needs no model; without a broker nothing else is asked."""
    from infra.kafka import Cluster  # noqa: PLC0415 - `--help` must not load the client

    quiet()
    try:
        with Cluster.at(servers) as cluster:
            yield Check("broker", Verdict.FINE, f"{servers} answers; {cluster.brokers()} in the cluster")
            topics = _topics(cluster, generation)
    except AnabranchError as error:
        yield Check("broker", Verdict.WRONG, str(error), "see to the broker, then run again")
        return
    yield topics
    yield _workers(servers, generation)


def _topics(cluster: Cluster, generation: int) -> Check:
    from infra.kafka import wanted  # noqa: PLC0415
    from streams.kafka.names import topic_name  # noqa: PLC0415
    from streams.topology import LAST  # noqa: PLC0415

    held = cluster.found([topic_name(LAST.target.name, generation)])
    counts = {"partitions": held[0].partitions} if held else {}  # chosen when they were made, and never changed
    wants = wanted(replication=min(3, cluster.brokers()), generation=generation, **counts)
    rows = list(cluster.differences(wants).rows())
    if rows:
        named = sorted({str(row["topic"]) for row in rows})
        shown = ", ".join(named[:3]) + (f" and {len(named) - 3} more" if len(named) > 3 else "")  # noqa: PLR2004 - a line
        return Check("topics", Verdict.WRONG, f"{len(named)} of {len(wants)} are not as wanted: {shown}", _APPLY)
    sizes = cluster.sizes(topic.name for topic in wants)
    largest = sorted(sizes, key=lambda name: (-sizes[name], name))[:3]
    told = ", ".join(f"{name} {sizes[name] / 1e6:.1f} MB" for name in largest)
    return Check("topics", Verdict.FINE, f"{len(wants)} are as wanted; {sum(sizes.values()) / 1e6:.1f} MB: {told}")


def _workers(servers: str, generation: int) -> Check:
    from infra.remote.groups import members  # noqa: PLC0415

    found = members(servers, generation)
    if found is None:
        return Check("workers", Verdict.ODD, "the cluster does not say which there are", "run again in a moment")
    told = ", ".join(f"{stage} {count}" for stage, count in found.items())
    lacking = [stage for stage, count in found.items() if not count]
    if lacking:
        return Check("workers", Verdict.ODD, f"none runs {', '.join(lacking)} ({told})", _START)
    return Check("workers", Verdict.FINE, told)


async def letters(settings: Settings) -> Check:
    """Count the letters that the cluster holds."""
    from infra.remote import open_remote  # noqa: PLC0415

    try:
        async with open_remote(settings, wait=False) as memory:
            count = sum(1 for _ in memory.letters())
    except (AnabranchError, Unavailable) as error:
        return Check("letters", Verdict.WRONG, str(error), "see to the broker, then run again")
    if count:
        advice = "`anabranch letters list` says why; `letters redrive` takes them again once that is mended"
        return Check("letters", Verdict.ODD, f"{count} in the last 30 days", advice)
    return Check("letters", Verdict.FINE, "none")


async def server(settings: Settings) -> Check:
    """Open the index on the Qdrant server with the model of the settings."""
    from infra.embedders import make_embedder  # noqa: PLC0415
    from infra.index import open_index, readable  # noqa: PLC0415

    close: Callable[[], None] = lambda: None  # noqa: E731 - nothing to close yet
    try:
        embedder = make_embedder(settings.embedder, threads=settings.threads, key=settings.embedder_key)
        close = embedder.close
        found = await readable(settings)
        index = await open_index(settings, embedder, create=False, role=found.role)
        await index.close()
    except (AnabranchError, Unavailable) as error:
        return Check("index", Verdict.WRONG, str(error), "see to the server and ANABRANCH_QDRANT_URL, then run again")
    finally:
        close()
    return Check(
        "index", Verdict.FINE, f"{settings.qdrant_url} holds {embedder.model}, {embedder.dimension} dimensions"
    )
