"""Positions: numbering events where they enter, and checking the numbers everywhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.header import EventKind, Header
from schemas.numbered import Numbered
from schemas.space import Space
from schemas.turn import Turn
from streams.codec import Malformed, decode_event, peek
from streams.effects import Inbound
from streams.state import StateHeader, id_hash
from streams.stopped import BrokenOrder


@dataclass(frozen=True, slots=True)
class Refused:
    """An event that cannot be believed. ``header`` is set where it could still be numbered."""

    reason: str
    header: Header | None
    event_id: str | None


def number(record: Inbound, space: Space, position: int) -> Numbered | Refused:
    """Give an event of the log the position that it takes, or say why it is refused."""
    glance = peek(record.body)
    if glance.space is not None and glance.space != space:
        reason = (
            f"the event names the space {glance.space[:200]!r} but was published to {space!r}; publish it to its own"
        )
        return Refused(reason, None, glance.event_id)
    if glance.is_control and not record.own:
        return _malformed(record, space, position, "control events come from the system itself; publish turns only")
    try:
        event = decode_event(record.body)
    except Malformed as error:
        return _malformed(record, space, position, str(error))
    event_id = event.turn_id if isinstance(event, Turn) else event.event_id
    kind = EventKind.TURN if isinstance(event, Turn) else EventKind.CONTROL
    header = Header(space=space, position=position, kind=kind, event_id=event_id, offset=record.offset)
    return Numbered(header=header, event=event)


def _malformed(record: Inbound, space: Space, position: int, fault: str) -> Refused:
    """An event whose id can be read takes a position all the same, so that its fate can be told."""
    glance = peek(record.body)
    if glance.event_id is None or glance.space is None:
        return Refused(f"no turn of {space!r}: {fault}", None, glance.event_id)
    kind = EventKind.CONTROL if glance.is_control else EventKind.TURN
    header = Header(space=space, position=position, kind=kind, event_id=glance.event_id, offset=record.offset)
    return Refused(f"{kind} {glance.event_id!r} of {space!r} is refused: {fault}", header, glance.event_id)


def is_repeat(header: Header, seen: StateHeader) -> bool:
    """Say whether a later stage has handled this position already.

    Raises:
        BrokenOrder: if it saw another event there.
    """
    if header.position > seen.position:
        return False
    known = seen.id_at(header.position)
    if known is not None and known != id_hash(header.event_id):
        msg = (
            f"position {header.position} of {header.space!r} is {header.event_id!r} now, but another event was seen "
            f"there; the input was rewritten: replay the space from its log"
        )
        raise BrokenOrder(msg)
    return True


def must_fill(missing: range, found: Sequence[Inbound], complaint: str) -> None:
    """Check that what was read again is just what was missing.

    Raises:
        BrokenOrder: if it is not; ``complaint`` says who misses what.
    """
    if [record.header.position for record in found if record.header] != list(missing):
        msg = f"{complaint}: {missing.start} to {missing.stop - 1}; replay the space from its log"
        raise BrokenOrder(msg)
