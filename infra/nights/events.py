"""A run's decisions as control events, in parts that route can hold; their ids say what they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Final

from schemas.consolidation import Consolidation, Decision
from schemas.control import Control, Drain
from schemas.space import Space
from stages.stored import UNDONE
from streams.codec import Codec, codec

_CONTROL: Final[Codec[Control]] = codec(Control)

PART_BYTES: Final = 200_000
"""Bytes of the decisions of one event: far below a message's limit, and little beside the W turns it stands among."""

PART: Final = 3
"""Decisions of one event: route remembers what the last W events decided, and has room for some 190 (invariant 7)."""

DRAIN: Final = "drain:"
DECIDED: Final = "consolidate:"
"""What the ids of a run's events begin with: an outcome tells by it that there was one."""


def run_id(at: datetime, tenant: str, reached: Mapping[Space, int]) -> str:
    """Return the name of a run: its day, and a digest of the tenant and of the memory that it rests on.

    The same run begun again on the same memory has the same name, so that its events are there once.
    """
    return f"{at:%Y-%m-%d}-{_version(tenant, reached)}"


def undo_id(run: str, tenant: str, reached: Mapping[Space, int]) -> str:
    """Return the name of the run that takes another one back."""
    return f"{UNDONE}{run}-{_version(tenant, reached)}"


def _version(tenant: str, reached: Mapping[Space, int]) -> str:
    told = [tenant, *(f"{space} {reached[space]}" for space in sorted(reached) if space.tenant == tenant)]
    return _digest("\n".join(told).encode())


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=4).hexdigest()


def parts(decisions: Iterable[Decision]) -> Iterator[tuple[Decision, ...]]:
    """Cut decisions into parts of an event each, in order; one that is too large for any is a part by itself."""
    held: list[Decision] = []
    size = 0
    for decision in decisions:
        own = len(decision.model_dump_json())
        if held and (len(held) == PART or size + own > PART_BYTES):
            yield tuple(held)
            held, size = [], 0
        held.append(decision)
        size += own
    if held:
        yield tuple(held)


def decided(  # noqa: PLR0917 - what an event holds
    space: Space, run: str, step: str, decisions: Sequence[Decision], at: datetime, undoes: str | None = None
) -> Iterator[tuple[str, bytes]]:
    """Give id and bytes of each event of a pass. The id holds a digest of the decisions: others are another event."""
    for number, part in enumerate(parts(decisions)):
        body = Consolidation(run=run, part=number, decisions=part, undoes=undoes)
        event_id = f"{DECIDED}{run}:{step}:{number}:{_digest(body.model_dump_json().encode())}"
        yield event_id, _CONTROL.encode(Control(space=space, event_id=event_id, at=at, body=body))


def drain(space: Space, run: str, at: datetime) -> tuple[str, bytes]:
    """Return id and bytes of the event that routes a space's working memory."""
    event_id = f"{DRAIN}{run}"
    return event_id, _CONTROL.encode(Control(space=space, event_id=event_id, at=at, body=Drain()))
