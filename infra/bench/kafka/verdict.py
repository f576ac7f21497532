"""What a run has left in the topics, against what was published: losses, order, repeats, and the same memory."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from schemas.header import Header
from schemas.memory import OutcomeRow, OutcomeState, Row
from schemas.space import Space
from streams.codec import Codec, codec
from streams.kafka.log import Log
from streams.kafka.names import topic_name
from streams.kafka.wire import HEADER, HEARTBEAT
from streams.topology import FLOW, LAST

_HEADER: Codec[Header] = codec(Header)
_ROW: Codec[Row] = codec(Row)


@dataclass
class Verdict:
    """Counts over all spaces; ``memory`` holds each space's rows by key, as bytes.

    ``odd`` are faults that were not what they were meant to be, such as a leave that was not graceful.
    """

    published: int = 0
    committed: int = 0
    lettered: int = 0
    breaks: int = 0
    repeats: int = 0
    differing: int = 0
    odd: int = 0
    memory: dict[str, dict[str, bytes]] = field(default_factory=lambda: defaultdict(dict))

    @property
    def is_clean(self) -> bool:
        """Whether nothing is lost, refused, out of order or different, and every fault was the one that was meant."""
        return not any((self.lost, self.lettered, self.breaks, self.differing, self.odd))

    @property
    def lost(self) -> int:
        """Turns that have no outcome."""
        return self.published - self.committed - self.lettered

    def __str__(self) -> str:
        """Describe it in one line."""
        return (
            f"published={self.published} committed={self.committed} lettered={self.lettered} lost={self.lost} "
            f"order breaks={self.breaks} repeats={self.repeats} of them differing={self.differing} "
            f"odd faults={self.odd}"
        )


async def judge(bootstrap: str, partitions: int, published: Mapping[str, list[str]]) -> Verdict:
    """Read all topics to their ends; ``published`` holds each space's turn ids in the order of publication."""
    log, verdict = Log(bootstrap), Verdict(published=sum(map(len, published.values())))
    for step in FLOW:
        if step is not LAST:
            await _stage(log, topic_name(step.target.name), partitions, verdict)
    await _memory(log, partitions, published, verdict)
    return verdict


async def _stage(log: Log, topic: str, partitions: int, verdict: Verdict) -> None:
    """Positions of a space come without a hole; what comes again has the bytes that it had."""
    seen: dict[str, list[bytes]] = defaultdict(list)
    async for record in log.snapshot(topic, partitions):
        header = _HEADER.decode(record.headers[HEADER])
        had, body = seen[header.space], record.value or b""
        if header.position < len(had):
            verdict.repeats += 1
            verdict.differing += had[header.position] != body
        elif header.position == len(had):
            had.append(body)
        else:
            verdict.breaks += 1


async def _memory(log: Log, partitions: int, published: Mapping[str, list[str]], verdict: Verdict) -> None:
    async for record in log.snapshot(LAST.target.name, partitions):
        if record.key == HEARTBEAT:
            continue
        space, _, key = (record.key or b"").decode().partition(" ")
        rows, body = verdict.memory[space], record.value or b""
        verdict.repeats += key in rows
        verdict.differing += rows.get(key, body) != body
        rows[key] = body
    for space, turn_ids in published.items():
        ended = _outcomes(verdict.memory[space])
        verdict.committed += sum(row.state is OutcomeState.COMMITTED for row in ended)
        verdict.lettered += sum(row.state is OutcomeState.LETTERED for row in ended)
        verdict.breaks += [row.event_id for row in ended] != turn_ids[: len(ended)]


def _outcomes(rows: Mapping[str, bytes]) -> list[OutcomeRow]:
    read = [_ROW.decode(body) for key, body in rows.items() if key.startswith("outcome ")]
    found: list[OutcomeRow] = [row for row in read if isinstance(row, OutcomeRow)]
    return sorted(found, key=lambda row: row.position)


def by_space(events: Iterable[tuple[Space, bytes]]) -> dict[str, list[str]]:
    """Return the turn ids of each space, in order."""
    named: dict[str, list[str]] = defaultdict(list)
    for space, body in events:
        named[space].append(json.loads(body)["turn_id"])
    return named
