"""The topics that the flow needs, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from infra.errors import UsageError
from streams.kafka.names import FIRST_GENERATION, LETTERS, RESULTS, state_topic, topic_name
from streams.topology import FIRST, FLOW, LAST

LOG_PARTITIONS: Final = 24
"""Of the log, for life: another count would move spaces to other partitions, and their order would be lost."""

_MIB: Final = 1024 * 1024
_TURN: Final = 4 * _MIB
"""A text has at most 1,000,000 characters, so at most 4,000,000 bytes of UTF-8; 194,304 are left for the rest."""
_EDGE: Final = 32 * _MIB
"""Each edge nests the one before and adds what its stage found in the text; so do rows of memory, state and answers.
The text lies in there several times, whole and in pieces: 22 MB for 1,000,000 characters of four bytes (measured)."""
_LETTER: Final = 64 * _MIB
"""A letter holds the original bytes of the largest of all these in base64 (a third more), with headers and reason."""

_MONTH: Final = timedelta(days=30)
"""Room to put a stopped stage right: what is older can still be derived from the log."""
_TOMBSTONES: Final = timedelta(days=7)
"""A follower of memory that was away for longer starts afresh."""
_COMPACTED: Final = timedelta(days=1)
"""What was replaced or forgotten in memory is gone from the disk a day after the next write to its partition."""
_STATE_KEPT: Final = timedelta(hours=48)
"""An owner folds its state every 12 hours and appends the greatest rows again; four tries before compaction may err."""
_STATE_GONE: Final = timedelta(days=7)
"""What a state said once is gone from the disk a week after the next write to its partition, however little is new."""
_SEGMENT: Final = timedelta(days=1)
"""Only sealed segments are compacted, and a write seals one that is older: with heartbeats every 6 hours each partition
has a sealed one within 30. As shipped a segment is open for a week, or until it has a gigabyte."""
_DIRTY: Final = "0.5"
"""Share of a partition that must be new before it is compacted for its size alone: Kafka's own, kept from a cluster
whose default is another; memory hardly replaces anything, and to compact it oftener would copy it for nothing."""


@dataclass(frozen=True, slots=True)
class WantedTopic:
    """A topic with the settings that are ours; all its other settings are the cluster's."""

    name: str
    partitions: int
    replication: int
    settings: Mapping[str, str]


def wanted(
    *,
    replication: int,
    min_insync: int | None = None,
    partitions: int = LOG_PARTITIONS,
    generation: int = FIRST_GENERATION,
) -> tuple[WantedTopic, ...]:
    """Return the topics of a generation: log, later topics, memory, states, and those that all generations share.

    Args:
        replication: copies of each partition; 3 in production.
        min_insync: copies that must have a record before it is acknowledged; unset: all but one, so that one broker may
            be down without stopping anybody or losing anything.
        partitions: of the generation's later topics.
        generation: from 1 on.

    Raises:
        UsageError: if a number is too small, or ``min_insync`` greater than ``replication``.
    """
    insync = max(1, replication - 1) if min_insync is None else min_insync
    if min(replication, insync, partitions, generation) < 1 or insync > replication:
        msg = (
            f"no topics can have replication {replication}, min.insync.replicas {insync}, {partitions} partitions and "
            f"generation {generation}: each is 1 or more, and the second not above the first"
        )
        raise UsageError(msg)
    return tuple(
        WantedTopic(name, count, replication, {**settings, **_safe(insync)})
        for name, count, settings in _plan(partitions, generation)
    )


def _plan(partitions: int, generation: int) -> list[tuple[str, int, dict[str, str]]]:
    """Return name, partitions and settings of their own of each topic."""
    counts = {FIRST.source.name: LOG_PARTITIONS}  # a state has the count of its stage's input
    later = [step.target.name for step in FLOW if step is not LAST]
    return [
        (FIRST.source.name, LOG_PARTITIONS, _deleted(None, _TURN)),
        *((topic_name(name, generation), partitions, _deleted(_MONTH, _EDGE)) for name in later),
        (topic_name(LAST.target.name, generation), partitions, _memory()),
        *((state_topic(step.name, generation), counts.get(step.source.name, partitions), _state()) for step in FLOW),
        (RESULTS, LOG_PARTITIONS, _deleted(None, _EDGE)),
        (LETTERS, LOG_PARTITIONS, _deleted(_MONTH, _LETTER)),
    ]


def _deleted(kept: timedelta | None, largest: int) -> dict[str, str]:
    """Return the settings of a topic whose records go after a time, or never; never for their size."""
    retention = "-1" if kept is None else _ms(kept)
    return {"cleanup.policy": "delete", "retention.ms": retention, "retention.bytes": "-1"} | _largest(largest)


def _memory() -> dict[str, str]:
    return _compacted({"max.compaction.lag.ms": _ms(_COMPACTED)})


def _state() -> dict[str, str]:
    return _compacted({"min.compaction.lag.ms": _ms(_STATE_KEPT), "max.compaction.lag.ms": _ms(_STATE_GONE)})


def _compacted(lags: dict[str, str]) -> dict[str, str]:
    """Return the settings of a topic that keeps the last row of each key."""
    shared = {
        "cleanup.policy": "compact",
        "segment.ms": _ms(_SEGMENT),
        "min.cleanable.dirty.ratio": _DIRTY,
        "delete.retention.ms": _ms(_TOMBSTONES),
    }
    return shared | lags | _largest(_EDGE)


def _largest(size: int) -> dict[str, str]:
    return {"max.message.bytes": str(size)}


def _safe(insync: int) -> dict[str, str]:
    """Return what every topic has: the broker's time, and no record that is acknowledged and lost."""
    return {
        "message.timestamp.type": "LogAppendTime",  # with clients' old times, retention removes new records
        "min.insync.replicas": str(insync),
        "unclean.leader.election.enable": "false",
    }


def _ms(span: timedelta) -> str:
    return str(span // timedelta(milliseconds=1))
