"""What differs between the topics that are wanted and those that a cluster has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from infra.errors import UsageError
from infra.kafka.topics import LOG_PARTITIONS, WantedTopic
from streams.kafka.names import LETTERS, RESULTS
from streams.topology import FIRST

_INSYNC: Final = "min.insync.replicas"
_SHARED: Final = frozenset({FIRST.source.name, RESULTS, LETTERS})


class TopicsUnfitError(UsageError):
    """A topic has partitions or copies that cannot be changed in place."""


@dataclass(frozen=True, slots=True)
class FoundTopic:
    """A topic as a cluster has it, with all its settings."""

    name: str
    partitions: int
    replication: int
    settings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of a topic that has another value than the one wanted; ``None``: none at all."""

    topic: str
    name: str
    wanted: str
    found: str | None


@dataclass(frozen=True, slots=True)
class Count:
    """A topic that has another number of partitions, or fewer copies, than wanted. ``name`` says which."""

    topic: str
    name: str
    wanted: int
    found: int

    @property
    def why(self) -> str:
        """What is wrong, and what a person can do: the same text for all topics with the same fault."""
        told = f"{self.name} {self.found}, wanted {self.wanted}"
        if self.name == "replication":
            return f"{told}: add copies with Kafka's own reassignment, or ask for --replication {self.found}"
        if self.topic in _SHARED:
            never = f"this count is {LOG_PARTITIONS} for life, and another one would move spaces to other partitions"
            return f"{told}: {never}; name a cluster with topics of our own making in ANABRANCH_KAFKA"
        return (
            f"{told}: never changed, since spaces would move to other partitions and lose their order; ask for "
            f"--partitions {self.found}, or derive a generation with `anabranch reindex --derive`"
        )


@dataclass(frozen=True, slots=True)
class Differences:
    """All that differs; false if nothing does."""

    missing: tuple[WantedTopic, ...] = ()
    settings: tuple[Setting, ...] = ()
    counts: tuple[Count, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.missing or self.settings or self.counts)

    def refuse_counts(self) -> None:
        """Check that all that differs can be mended.

        Raises:
            TopicsUnfitError: naming each topic whose partitions or copies are not those wanted, and the way out.
        """
        topics: dict[str, list[str]] = {}
        for count in self.counts:
            topics.setdefault(count.why, []).append(count.topic)
        if topics:
            raise TopicsUnfitError("\n".join(f"{', '.join(names)}: {why}" for why, names in topics.items()))

    def rows(self) -> Iterator[dict[str, str | int | None]]:
        """Give each difference as ``topic, differs (topic, partitions, replication or a setting), wanted, found``."""
        for topic in self.missing:
            yield _row(topic.name, "topic", f"{topic.partitions} partitions, {topic.replication} replicas", None)
        others: tuple[Count | Setting, ...] = (*self.counts, *self.settings)
        for one in others:
            yield _row(one.topic, one.name, one.wanted, one.found)


def _row(topic: str, differs: str, wanted: str | int, found: str | int | None) -> dict[str, str | int | None]:
    return {"topic": topic, "differs": differs, "wanted": wanted, "found": found}


def difference(wanted: Iterable[WantedTopic], found: Iterable[FoundTopic]) -> Differences:
    """Compare topics. Topics and settings that are not wanted ones are somebody else's, and no difference.

    More copies than wanted, and more copies that must be in step, are the stricter choice and no difference either:
    nobody loses safety by a smaller number on a command line.
    """
    have = {topic.name: topic for topic in found}
    wants = tuple(wanted)
    there = [(topic, have[topic.name]) for topic in wants if topic.name in have]
    return Differences(
        missing=tuple(topic for topic in wants if topic.name not in have),
        settings=tuple(one for pair in there for one in _settings(*pair)),
        counts=tuple(one for pair in there for one in _counts(*pair)),
    )


def _settings(wanted: WantedTopic, found: FoundTopic) -> Iterator[Setting]:
    for name, value in wanted.settings.items():
        held = found.settings.get(name)
        if held != value and not (name == _INSYNC and _stricter(held, value, found.replication)):
            yield Setting(wanted.name, name, value, held)


def _stricter(held: str | None, value: str, copies: int) -> bool:
    """Say whether more copies must be in step than wanted, but no more than there are: else nobody could write."""
    return held is not None and int(value) < int(held) <= copies


def _counts(wanted: WantedTopic, found: FoundTopic) -> Iterator[Count]:
    if found.partitions != wanted.partitions:
        yield Count(wanted.name, "partitions", wanted.partitions, found.partitions)
    if found.replication < wanted.replication:
        yield Count(wanted.name, "replication", wanted.replication, found.replication)
