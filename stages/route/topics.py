"""Topic records: one for each topic of z_t, written when a space first speaks of it (mechanics, route 4)."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.extracted import Extracted, Key
from schemas.memory import EdgeRow, EdgeType, RecordKind, RecordRow
from stages.route.ids import topic_id, turn_record_id
from stages.route.strengths import MENTIONS
from stages.route.targets import Reader
from stages.stored import whole
from stages.text.tokens import content_tokens, words

_PREFIX = "topic:"
_MAX = 48
"""Characters of a topic's name in keys and in state."""

_FEW = 4
"""Records of a topic that are read: there is one open record of each, and those that an event of the last W closed."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic: its name in keys, and the record that stands for it."""

    name: str
    record: str


def topic_name(topic: str) -> str:
    """Return the name of a topic, the same for its inflections; empty if it says nothing."""
    return " ".join(content_tokens(topic) or words(topic))[:_MAX].strip()


def topic_record(extracted: Extracted, topic: Topic, text: str, provenance: tuple[str, ...]) -> RecordRow:
    """Return a topic's record; ``provenance`` are the turns that speak of it."""
    header, turn = extracted.header, extracted.localized.normalized.turn
    return RecordRow(
        space=header.space,
        id=topic.record,
        kind=RecordKind.TOPIC,
        text=text,
        owner=None,
        speaker=None,
        at=turn.at,
        key=Key(owner="", subject=None, attribute=f"{_PREFIX}{topic.name}"),
        provenance=provenance,
        since=header.position,
    )


async def known_topic(reader: Reader, name: str) -> str | None:
    """Return the open record of a topic, from the state or from memory; ``None`` for a new topic."""
    gone = reader.is_closed
    for known in reversed(reader.state.turns.entries):
        if known.topic == name and not gone(known.topic_record):
            return known.topic_record
    where = reader.where(RecordKind.TOPIC, key_attribute=f"{_PREFIX}{name}")
    found = await reader.matching(where, _FEW)
    return next((one.record.id for one in found if not gone(one.record.id)), None)


async def topic_of(reader: Reader, extracted: Extracted) -> tuple[Topic | None, RecordRow | None]:
    """Return the topic of a turn, and its record if it is new in the space."""
    normalized = extracted.localized.normalized
    name = topic_name(normalized.z.topic)
    if not name:
        return None, None
    known = await known_topic(reader, name)
    if known is not None:
        return Topic(name, known), None
    topic = Topic(name, topic_id(reader.space, reader.position))
    return topic, topic_record(extracted, topic, normalized.z.topic, (normalized.turn.turn_id,))


@dataclass(frozen=True, slots=True)
class Reborn:
    """A topic whose record rested on a revised turn: a new record for the other turns that speak of it."""

    topic: Topic
    record: RecordRow
    edges: tuple[EdgeRow, ...]
    positions: frozenset[int]


def reborn_topic(reader: Reader, extracted: Extracted, name: str) -> Reborn | None:
    """Return the topic ``name`` as a new record resting on the recent turns that speak of it, if there are any."""
    revises = extracted.localized.normalized.revises
    turns = [
        known
        for known in reader.state.turns
        if name and known.topic == name and not known.revised and known.position != revises and whole(known.turn_id)
    ]
    if not turns:
        return None
    topic = Topic(name, topic_id(reader.space, reader.position, 1))
    record = topic_record(extracted, topic, name, tuple(dict.fromkeys(known.turn_id for known in turns)))
    edges = tuple(_mention(reader, known.position, topic) for known in turns)
    return Reborn(topic, record, edges, frozenset(known.position for known in turns))


def _mention(reader: Reader, position: int, topic: Topic) -> EdgeRow:
    return reader.edge(turn_record_id(reader.space, position), topic.record, EdgeType.MENTIONS, MENTIONS)
