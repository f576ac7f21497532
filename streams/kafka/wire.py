"""How what the engine knows lies on topics: keys, headers, values, and the partition of a space."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from aiokafka.partitioner import murmur2

from schemas.header import Header
from schemas.memory import Row, row_key
from schemas.space import Space
from streams.codec import Codec, Malformed, canonical, codec
from streams.effects import Inbound, Outbound
from streams.state import HEADER as HEADER_PART
from streams.state import StateRow

HEADER = "anabranch-header"
"""Record header with the event's ``Header`` as JSON: readable whatever the body."""
MARKER = "anabranch-marker"
"""Record header that says that the body is a ``Skipped``."""
OWN = "anabranch-own"
"""Record header of a control event that the system itself wrote to ``turns``."""
TRACE = "traceparent"
"""Record header of the trace that the publisher began (W3C trace context). Every stage passes it on as it is: see
``streams.tracing``."""

NEXT = b"next"
"""Key of the partition row of a state topic: the lowest input offset that is not finished."""
QUARANTINE = b"quarantine "
"""Begins the key of a row that names an input offset which is to become a letter unasked."""
REWIND = b"rewind"
"""Key of a row that says that everything before it in the partition counts no more, but for what is quarantined."""
PAUSE = b"pause"
"""Key of a row that says whether the whole stage is paused; every partition of its state topic has it."""

HEARTBEAT = b"heartbeat"
"""Key of a row that says nothing: a partition that is never written to is never compacted."""

_KNOWN: Final = 16_384
"""Spaces whose keys are read and whose partitions are computed once (about 5 MB)."""

_HEADER: Codec[Header] = codec(Header)
Headers = tuple[tuple[str, bytes], ...]


@dataclass(frozen=True, slots=True)
class Record:
    """A record of a topic, whoever fetched it. ``key`` and ``value`` are as they lie there."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Mapping[str, bytes]
    at: int | None = None
    """When the broker took it (ms since 1970), if that is known."""

    @property
    def size(self) -> int:
        """Bytes it holds in memory, about."""
        return 200 + len(self.value or b"")


@dataclass(frozen=True, slots=True)
class Sent:
    """A record to be produced: to which topic and partition, and what."""

    topic: str
    partition: int
    key: bytes
    value: bytes
    headers: Headers = ()


@lru_cache(_KNOWN)
def partition_of(space: str, partitions: int) -> int:
    """Return the partition of a space: murmur2, as Kafka's own clients in Java and Python choose it."""
    return int(murmur2(space.encode()) & 0x7FFFFFFF) % partitions


@lru_cache(_KNOWN)
def space_of(key: bytes | None) -> Space | None:
    """Return the space that a record's key names, or ``None`` if it names none."""
    try:
        return None if key is None else Space(key.decode())
    except ValueError:
        return None


def inbound(record: Record) -> Inbound:
    """Return a record of a stage's input. One whose header cannot be read has none, and the engine says so."""
    written = record.headers.get(HEADER)
    try:
        header = None if written is None else _HEADER.decode(written)
    except Malformed:
        header = None
    return Inbound(
        offset=record.offset,
        body=record.value or b"",
        header=header,
        marker=MARKER in record.headers,
        own=OWN in record.headers,
        partition=record.partition,
        trace=record.headers.get(TRACE),
    )


def outbound(output: Outbound, topic: str, partition: int) -> Sent:
    """Return the record of a stage's output."""
    headers: Headers = ((HEADER, _HEADER.encode(output.header)),)
    if output.marker:
        headers += ((MARKER, b"1"),)
    if output.trace is not None:
        headers += ((TRACE, output.trace),)
    return Sent(topic, partition, output.header.space.encode(), output.body, headers)


def memory_row(row: Row, topic: str, partition: int) -> Sent:
    """Return the record of a row of memory."""
    return Sent(topic, partition, f"{row.space} {row_key(row)}".encode(), canonical(row).encode())


def state_row(space: str, row: StateRow, topic: str, partition: int) -> Sent:
    """Return the record of a part of a space's state; a part's two copies have keys of their own."""
    key = f"{space} {row.slot} {row.part}".encode()
    return Sent(topic, partition, key, b"%d\n" % row.version + row.data)


def read_state_row(key: bytes, value: bytes) -> tuple[str, StateRow] | None:
    """Return the space and the row of a state record, or ``None`` if it is a row of another kind."""
    if key in {NEXT, REWIND, PAUSE, HEARTBEAT} or key.startswith(QUARANTINE):
        return None
    space, slot, part = key.decode().split(" ", 2)
    version, _, data = value.partition(b"\n")
    return space, StateRow(part, int(slot), int(version), data)


def next_row(offset: int, topic: str, partition: int) -> Sent:
    """Return the partition row."""
    return Sent(topic, partition, NEXT, json.dumps({"schema_version": 1, "next": offset}).encode())


def heartbeat(topic: str, partition: int) -> Sent:
    """Return a row that says nothing."""
    return Sent(topic, partition, HEARTBEAT, b"{}")


def read_next(value: bytes) -> int:
    """Return the offset that a partition row names."""
    return int(json.loads(value)["next"])


def quarantine_row(offset: int, topic: str, partition: int) -> Sent:
    """Return the row that gives up an input offset of a partition."""
    return Sent(topic, partition, QUARANTINE + b"%d" % offset, b'{"schema_version":1}')


def rewind_row(topic: str, partition: int) -> Sent:
    """Return the row that makes a partition's input be done again from its beginning."""
    return Sent(topic, partition, REWIND, b'{"schema_version":1}')


def pause_row(at: int, topic: str, partition: int, *, paused: bool) -> Sent:
    """Return the row that pauses a stage or lets it go on; ``at`` (ms) says which of two is the newer."""
    return Sent(topic, partition, PAUSE, json.dumps({"schema_version": 1, "at": at, "paused": paused}).encode())


def read_pause(value: bytes) -> tuple[int, bool]:
    """Return when a pause row was written (ms), and whether it pauses."""
    row = json.loads(value)
    return int(row["at"]), bool(row["paused"])


def is_header(row: StateRow) -> bool:
    """Whether a row is a state header."""
    return row.part == HEADER_PART


def as_record(
    partition: int,
    offset: int,
    key: bytes | None,
    value: bytes | None,
    headers: Iterable[tuple[str, bytes]],
    *,
    at: int | None = None,
) -> Record:
    """Return what a client fetched as a record; of headers of one name the first stands."""
    named: dict[str, bytes] = {}
    for name, content in headers:
        named.setdefault(name, content)
    return Record(partition, offset, key, value, named, at)
