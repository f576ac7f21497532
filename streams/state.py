"""State in parts: what a stage knows of a space, saved so that a torn save never mixes old and new."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic import Field, ValidationInfo, field_serializer, field_validator

from schemas.base import SCHEMA_VERSION, Model
from schemas.space import Space
from stages.contract import WINDOW
from streams.codec import Codec, codec

HEADER = ""
"""Part name of the state header."""


class Counts(Model):
    """The sum of a space, as one stage has seen it. ``alone`` are letters of events that could not be numbered."""

    emitted: int = 0
    duplicates: int = 0
    lettered: int = 0
    alone: int = 0

    @property
    def total(self) -> int:
        """How many events of the space the stage has handled."""
        return self.emitted + self.duplicates + self.lettered + self.alone


PartVersion = tuple[int, int]
"""Which copy of a part belongs to the state: its key (0 or 1) and its version."""

_DIGITS = 8
"""Hexadecimal digits that stand for an event id in a header."""


class StateHeader(Model):
    """Where a stage stands in a space. ``position`` and ``offset`` are of the last event handled (-1: none).

    ``ids`` holds the hashes of the event ids of the last W positions, oldest first: a repeat must be the event seen.
    It is written with every cut, so it is one string, and ``parts`` is stored in short (``_spelled``): a channel's
    state has more than a hundred parts.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    version: int = 0
    position: int = -1
    offset: int = -1
    counts: Counts = Counts()
    ids: str = ""
    parts: dict[str, PartVersion] = Field(default_factory=dict)

    @field_serializer("parts", when_used="json")
    def _in_short(self, parts: dict[str, PartVersion]) -> dict[str, str]:
        return _spelled(parts, self.version)

    @field_validator("parts", mode="before")
    @classmethod
    def _in_full(cls, parts: object, info: ValidationInfo) -> object:
        if info.mode != "json" or not isinstance(parts, dict):
            return parts
        return _read({ring: str(copies) for ring, copies in parts.items()}, info.data.get("version", 0))

    def id_at(self, position: int) -> str | None:
        """Return the id hash seen at ``position``, if it is one of the last W."""
        start = len(self.ids) - (self.position - position + 1) * _DIGITS
        return self.ids[start : start + _DIGITS] if start >= 0 and position <= self.position else None

    def seen(self, position: int, offset: int, event_id: str, counts: Counts) -> StateHeader:
        """Return the header after an event that took ``position``."""
        ids = (self.ids + id_hash(event_id))[-WINDOW * _DIGITS :]
        return self.model_copy(update={"position": position, "offset": offset, "ids": ids, "counts": counts})

    def passed(self, offset: int, counts: Counts) -> StateHeader:
        """Return the header after an event that took no position."""
        return self.model_copy(update={"offset": offset, "counts": counts})


def _spelled(parts: Mapping[str, PartVersion], version: int) -> dict[str, str]:
    """Return parts by what their names begin with: "7.2a 8.0" under ``turns-`` for ``turns-7`` and ``turns-8``.

    Behind the point stand the age of the copy in cuts and its slot, as ``2 * age + slot`` in hexadecimal.
    """
    rings: dict[str, list[str]] = {}
    for name, (slot, written) in parts.items():
        ring = name.rstrip("0123456789")
        rings.setdefault(ring, []).append(f"{name[len(ring) :]}.{2 * (version - written) + slot:x}")
    return {ring: " ".join(copies) for ring, copies in rings.items()}


def _read(spelled: Mapping[str, str], version: int) -> dict[str, PartVersion]:
    """Return the parts that ``_spelled`` wrote."""
    parts: dict[str, PartVersion] = {}
    for ring, copies in spelled.items():
        for number, _, copy in (entry.partition(".") for entry in copies.split()):
            age, slot = divmod(int(copy, 16), 2)
            parts[ring + number] = (slot, version - age)
    return parts


STATE_HEADER: Codec[StateHeader] = codec(StateHeader)
"""How a state header lies in its row."""


def id_hash(event_id: str) -> str:
    """Return the hexadecimal digits that stand for an event id."""
    return hashlib.blake2b(event_id.encode(), digest_size=_DIGITS // 2).hexdigest()


@dataclass(frozen=True, slots=True)
class StateRow:
    """One stored copy of a part (or of the header, whose part name is empty)."""

    part: str
    slot: int
    version: int
    data: bytes


class StateStore(Protocol):
    """Where state is kept."""

    async def load(self, stage: str, space: Space) -> list[StateRow]:
        """Return every stored copy of every part of a space's state."""
        ...

    async def version(self, stage: str, space: Space) -> int:
        """Return the version of the stored state header (0: none), to tell whether a state is still the last."""
        ...


@dataclass(frozen=True, slots=True)
class Saved:
    """A loaded or saved state: its header and the bytes of its parts."""

    header: StateHeader
    parts: Mapping[str, bytes]


EMPTY = Saved(StateHeader(), {})


def load(rows: Iterable[StateRow]) -> Saved:
    """Put a state together: the header of the greatest version, and the copies that it names.

    A copy that is gone because a slower worker wrote over it is replaced by the greatest one that is newer than it and
    not above the header: a part that has not changed between the two says the same.

    Raises:
        ValueError: if neither is there.
    """
    rows = list(rows)
    headers = [row for row in rows if row.part == HEADER]
    if not headers:
        return EMPTY
    header = STATE_HEADER.decode(max(headers, key=lambda row: row.version).data)
    copies = {(row.part, row.version): row.data for row in sorted(rows, key=lambda row: row.version)}
    return Saved(header, {name: _copy(copies, name, version, header) for name, (_, version) in header.parts.items()})


def _copy(copies: Mapping[tuple[str, int], bytes], name: str, version: int, header: StateHeader) -> bytes:
    if (name, version) in copies:
        return copies[name, version]
    newer = [found for part, found in copies if part == name and version < found <= header.version]
    if not newer:
        msg = f"state part {(name, version)} is missing; replay the space to build its state again"
        raise ValueError(msg)
    return copies[name, max(newer)]


def save(before: Saved, header: StateHeader, parts: Mapping[str, bytes]) -> tuple[Saved, list[StateRow]]:
    """Return the saved state and the rows to write: changed parts into their other slot, then the header.

    The version is the number of events handled: workers that both believe the space theirs cut at other places, and
    of what they leave the greatest version is the one that has come furthest.
    """
    version = max(before.header.version + 1, header.counts.total)
    versions = before.header.parts
    named: dict[str, PartVersion] = {}
    rows: list[StateRow] = []
    for name, data in sorted(parts.items()):
        old = versions.get(name)
        if old is not None and before.parts[name] == data:
            named[name] = old
            continue
        slot = 1 if old is not None and old[0] == 0 else 0
        named[name] = (slot, version)
        rows.append(StateRow(name, slot, version, data))
    header = header.model_copy(update={"version": version, "parts": named})
    rows.append(StateRow(HEADER, 0, version, STATE_HEADER.encode(header)))
    return Saved(header, dict(parts)), rows
