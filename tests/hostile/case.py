"""What a hostile input is: events for one space, and what has to become of each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

SPACE = "acme/u-1"
AT = "2026-03-01T18:00:00Z"
CRANE = "The harbour crane was painted green."


class Outcome(StrEnum):
    """What becomes of an event.

    A letter has its place in the order of the space; one alone has none, since no id of its event can be believed.
    """

    COMMITTED = "committed"
    LETTERED = "letter"
    ALONE = "letter alone"
    DUPLICATE = "duplicate"


COMMITTED, LETTERED, ALONE, DUPLICATE = Outcome


@dataclass(frozen=True)
class Case:
    """A hostile input. ``says`` are words of each letter's reason, ``remark`` what else is to be known.

    ``text`` is what the last committed turn has to read like in memory, where that is not what was sent.
    """

    name: str
    events: tuple[bytes, ...]
    outcomes: tuple[Outcome, ...]
    says: tuple[str, ...] = ()
    remark: str = ""
    text: str | None = None

    def __str__(self) -> str:
        return self.name


def one(name: str, event: bytes, outcome: Outcome, *says: str, remark: str = "", text: str | None = None) -> Case:
    """Return a case of a single event."""
    return Case(name, (event,), (outcome,), says, remark, text)


def turn(turn_id: str = "t", text: str = CRANE, **more: Any) -> bytes:
    """Return a turn as bots publish it, in ASCII; ``more`` replaces its fields."""
    told = {"space": SPACE, "turn_id": turn_id, "speaker": {"id": "mia"}, "text": text, "at": AT} | more
    return json.dumps(told).encode()


def without(field: str) -> bytes:
    """Return a turn that lacks a field."""
    told = json.loads(turn())
    del told[field]
    return json.dumps(told).encode()


def raw(before: bytes, after: bytes, event: bytes | None = None) -> bytes:
    """Return a turn in which bytes stand that no JSON library would write."""
    event = turn() if event is None else event
    assert before in event
    return event.replace(before, after)


def beside(field: bytes) -> bytes:
    """Return a turn with a further field, written as it is."""
    return turn()[:-1] + b", " + field + b"}"
