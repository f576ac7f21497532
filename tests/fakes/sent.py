"""Events as a test means them: what is published, and what a plain reader knows must become of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
OTHER = "evil/u-9"
JUNK = {
    "words": b"not json",
    "nothing": b"",
    "no UTF-8": b"\xff\xfe{",
    "a list": b"[]",
    "deep": b"[" * 5000,
    "no id": b'{"turn_id": ["a"]}',
    "a long id": b'{"turn_id": "' + b"a" * 257 + b'"}',
    "a long number": b'{"turn_id": "a", "revision": ' + b"1" * 5000 + b"}",
    "a lone surrogate": b'{"turn_id": "\\ud800"}',
}
"""Bytes in which no id and space can be read, by name."""


class Kind(StrEnum):
    """What is sent."""

    TURN = "turn"
    DRAIN = "drain"
    """A control event of the system."""
    FORGED = "forged"
    """A control event of a tenant."""
    FAULTY = "faulty"
    """A turn whose space and id can be read, and whose time is none."""
    STRAY = "stray"
    """A turn that names another space than the one it is published to."""
    JUNK = "junk"
    """Bytes of ``JUNK``, which ``text`` names."""


@dataclass(frozen=True)
class Sent:
    """One event published to ``space``. ``minute`` is its time; ``more`` are further fields of a turn."""

    space: str
    kind: Kind
    id: str = ""
    text: str = ""
    speaker: str = "mia"
    revision: int = 0
    minute: int = 0
    more: tuple[tuple[str, Any], ...] = ()

    @property
    def own(self) -> bool:
        """Whether the system itself writes it."""
        return self.kind is Kind.DRAIN

    @property
    def is_alone(self) -> bool:
        """Whether it can't be numbered: all that comes of it is a letter."""
        return self.kind in {Kind.STRAY, Kind.JUNK}

    @property
    def is_believed(self) -> bool:
        """Whether a stage gets to see it."""
        return self.kind in {Kind.TURN, Kind.DRAIN}

    @property
    def body(self) -> bytes:
        """What is published."""
        at = (START + timedelta(minutes=self.minute)).isoformat()
        if self.kind is Kind.JUNK:
            return JUNK[self.text]
        if self.kind in {Kind.DRAIN, Kind.FORGED}:
            control = {"kind": "control", "space": self.space, "event_id": self.id, "at": at}
            return json.dumps(control | {"body": {"action": "drain"}}).encode()
        turn = {
            "space": OTHER if self.kind is Kind.STRAY else self.space,
            "turn_id": self.id,
            "speaker": {"id": self.speaker, "name": self.speaker.title(), "role": _role(self.speaker)},
            "text": self.text,
            "at": "noon" if self.kind is Kind.FAULTY else at,
            "revision": self.revision,
        }
        return json.dumps(turn | dict(self.more)).encode()


def _role(speaker: str) -> str:
    return "agent" if speaker == "rook" else "user"
