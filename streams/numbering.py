"""Positions: numbering events where they enter, and checking the numbers everywhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from schemas.control import Control, Redrive
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
    """Give an event of the log the position that it takes, or say why it is refused.

    A redrive stands for the event that it carries, which is judged as if it had just come: later stages never see it.
    """
    glance = peek(record.body)
    if record.refused is not None:
        return Refused(record.refused, None, glance.event_id)
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
    if isinstance(event, Control) and isinstance(event.body, Redrive):
        return _again(record, space, position, event.body)
    event_id = event.turn_id if isinstance(event, Turn) else event.event_id
    kind = EventKind.TURN if isinstance(event, Turn) else EventKind.CONTROL
    header = Header(space=space, position=position, kind=kind, event_id=event_id, offset=record.offset)
    return Numbered(header=header, event=event)


def _again(record: Inbound, space: Space, position: int, redrive: Redrive) -> Numbered | Refused:
    numbered = number(replace(record, body=redrive.original, own=redrive.own), space, position)
    header = numbered.header and numbered.header.model_copy(update={"attempt": redrive.attempt})
    if isinstance(numbered, Refused):
        return replace(numbered, header=header)
    return numbered.model_copy(update={"lettered": redrive.lettered, "header": header})


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


def must_go_on(wanted: int, before: Header, found: Sequence[Inbound], who: str) -> None:
    """Check that input read again holds no hole itself, from the position ``wanted`` or below it on.

    Raises:
        BrokenOrder: if it does, or if nothing is left in front of ``before``.
    """
    for record in found:
        position = record.header.position if record.header else wanted + 1
        if position > wanted:
            break
        wanted = max(wanted, position + 1)
    else:
        if found:
            return
    msg = (
        f"{who} misses position {wanted} of {before.space!r} before {before.position} ({before.event_id!r}); "
        f"replay the space from its log"
    )
    raise BrokenOrder(msg)
