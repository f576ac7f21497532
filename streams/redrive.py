"""Taking a letter's event again: a control event of the log, so that a replay does the same.

What was lettered brought nothing to memory, so the event is no repeat of itself: it is decided as if it had just come,
at the position where the redrive stands. Its turn is then committed, as a turn is once one of its positions is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from schemas.control import Control, Passed, Redrive
from schemas.letter import Letter
from schemas.normalized import Normalized
from schemas.space import Space
from schemas.turn import Turn
from streams.codec import Codec, codec, revision
from streams.letters import oldest_first
from streams.topology import FIRST, FLOW

_CONTROL: Codec[Control] = codec(Control)
_EVENT: Codec[Turn | Control] = codec(Turn | Control)


def newest(letters: Iterable[Letter]) -> list[Letter]:
    """Return the last letter of each event, in order: an event that was refused three times is taken again once.

    Raises:
        Malformed: if a letter holds a message of another version.
    """
    ordered = sorted(letters, key=lambda letter: (*_event(letter), oldest_first(letter)))
    last = [list(group)[-1] for _, group in groupby(ordered, _event)]
    return sorted(last, key=oldest_first)


def _event(letter: Letter) -> tuple[str, str, int, bytes]:
    """Return what tells events apart: the space with id and revision, or the bytes where no id can be read."""
    if letter.turn_id is None:
        return letter.space, "", 0, letter.original
    return letter.space, letter.turn_id, revision(_original(letter)[1]), b""


def revision_of(letter: Letter) -> int:
    """Return the revision of a letter's event (0 where it names none).

    Raises:
        Malformed: if the letter holds a message of another version.
    """
    return _event(letter)[2]


def redrive(letter: Letter, letters: Sequence[Letter], at: datetime) -> bytes:
    """Return the control event that has a letter's event taken again. ``letters`` are those of its space.

    Raises:
        Malformed: if the letter holds a message of another version.
    """
    own, original = _original(letter)
    same = [each for each in letters if _event(each) == _event(letter)]
    attempt = 1 + max(letter.attempt, len({each.letter_id for each in same}))
    body = Redrive(
        letter_id=letter.letter_id,
        stage=letter.stage,
        attempt=attempt,
        lettered=_positions(letter, letters),
        own=own,
        original=original,
    )
    event_id = f"redrive {letter.letter_id} {attempt}"
    return _CONTROL.encode(Control(space=Space(letter.space), event_id=event_id, at=at, body=body))


def _positions(letter: Letter, letters: Sequence[Letter]) -> tuple[int, ...]:
    """Return the positions from which memory holds nothing of a turn, whatever its revision was there."""
    lettered = {each.position for each in letters if (each.space, each.turn_id) == (letter.space, letter.turn_id)}
    return tuple(sorted(position for position in lettered if position is not None))


def _original(letter: Letter) -> tuple[bool, bytes]:
    """Return whether a letter's event was the system's own, and its bytes as ``turns`` holds events.

    A letter of a later stage holds that stage's input, in which the event lies. Only the system's own control events
    come so far: one from a tenant is refused by the first stage, and stays a tenant's when it is taken again.
    """
    if letter.stage == FIRST.name:
        return False, letter.original
    source = next(step.source for step in FLOW if step.name == letter.stage)
    event = _within(source.codec.decode(letter.original))
    return isinstance(event, Control), _EVENT.encode(event)


def _within(message: Any) -> Turn | Control:  # noqa: ANN401 - an edge of the flow, which nests the one before
    if isinstance(message, Passed):
        return message.control
    if isinstance(message, Normalized):
        return message.turn
    for name in ("normalized", "localized", "source"):
        if hasattr(message, name):
            return _within(getattr(message, name))
    msg = f"{type(message).__name__} carries no event"
    raise TypeError(msg)
