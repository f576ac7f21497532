"""Dead letters, and the limit that keeps a bad deployment from emptying the log into them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from uuid import UUID, uuid5

from schemas.control import Control, Redrive
from schemas.header import Header
from schemas.letter import Letter
from schemas.space import Space
from streams.codec import Malformed, decode_event
from streams.effects import Inbound
from streams.stopped import TooManyLetters

_NAMESPACE = UUID("0f7f6f0e-50a1-5e43-8a3a-0a2f4b7f9c55")
"""Root of letter ids: the same record refused again is the same letter."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a stage refused a record, and whose id it bears."""

    reason: str
    event_id: str | None
    header: Header | None
    input_fault: bool = True


def write(stage: str, topic: str, space: Space, record: Inbound, refusal: Refusal) -> Letter:
    """Return the letter for a refused record, with its original bytes: of a redrive, those of the event it carries."""
    again = _again(record)
    attempt = again.attempt if again is not None else 1
    return Letter(
        letter_id=str(uuid5(_NAMESPACE, f"{topic}\n{record.partition}\n{record.offset}\n{stage}")),
        space=space,
        turn_id=refusal.event_id,
        position=None if refusal.header is None else refusal.header.position,
        stage=stage,
        reason=refusal.reason,
        attempt=attempt if refusal.header is None else refusal.header.attempt,
        topic=topic,
        partition=record.partition,
        offset=record.offset,
        input_fault=refusal.input_fault,
        original=record.body if again is None else again.original,
    )


def oldest_first(letter: Letter) -> tuple[str, bool, int, int]:
    """Return the order of letters: by position in their space; those that took none come last, by offset.

    Offsets of several topics say nothing of each other.
    """
    return letter.space, letter.position is None, letter.position or 0, letter.offset


def _again(record: Inbound) -> Redrive | None:
    if not record.own:
        return None
    try:
        event = decode_event(record.body)
    except Malformed:
        return None
    return event.body if isinstance(event, Control) and isinstance(event.body, Redrive) else None


@dataclass(slots=True)
class Limit:
    """Counts refusals among the last hundred records of a stage (at least fifty seen, from at least ten spaces)."""

    recent: deque[tuple[Space, bool]] = field(default_factory=lambda: deque(maxlen=100))
    least: int = 50
    spaces: int = 10

    def count(self, stage: str, space: Space, *, refused: bool) -> None:
        """Count a record.

        Raises:
            TooManyLetters: if more than half of the recent ones were refused through no fault of the input.
        """
        self.recent.append((space, refused))
        if not refused or len(self.recent) < self.least:
            return
        bad = sum(is_bad for _, is_bad in self.recent)
        if 2 * bad > len(self.recent) and len({name for name, _ in self.recent}) >= self.spaces:
            msg = (
                f"{stage} refused {bad} of the last {len(self.recent)} records; it stops before the log runs into the "
                f"dead letters. See `anabranch letters list`, mend the cause, then go on"
            )
            raise TooManyLetters(msg)
