"""What waits to be read, and what is read with an event.

At most one chunk is open, as the next opening turn of the space closes it. A chunk of one turn, which nobody answered
or which answers one that has closed, waits in hand for the next that closes: both are read by one request, since in a
channel, where most chunks are such, each would else cost a request of its own. No more than one is held, and what the
state has no room for whole (a long text or id) is read at once, as revisions are, and suspect turns, which are read by
rules alone and so never stand in a request beside anybody else's words. A correction is not held, and what it may be
about is read before it, with an event before its own. A drain empties the hand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from schemas.localized import Localized
from schemas.space import Space
from schemas.turn import Role
from stages.extract_per_view.chunks import Chunk, Open, as_open
from stages.extract_per_view.cues import corrects
from stages.text.sentences import sentence_bounds


@dataclass(frozen=True, slots=True)
class Hand:
    """Turns that wait to be read: that of the ``open`` chunk, and one that is a chunk alone, ``held`` for company."""

    open: Open | None = None
    held: Open | None = None

    def without(self, position: int | None) -> Self:
        """Return it without the turn of a position, whose text is no longer what was said."""
        return replace(self, open=_other(self.open, position), held=_other(self.held, position))

    def alone(self, space: Space, *turns: Open | None) -> tuple[Chunk, ...]:
        """Return turns as chunks of one turn each, oldest first."""
        there = sorted((turn for turn in turns if turn is not None), key=lambda turn: turn.position)
        return tuple(Chunk((turn.again(space),)) for turn in there)

    def of(self, speaker: str | None) -> tuple[Open, ...]:
        """Return the turns of a speaker (``None``: of anybody)."""
        return tuple(one for one in (self.open, self.held) if one is not None and speaker in {None, one.speaker})


def _other(turn: Open | None, position: int | None) -> Open | None:
    return None if turn is not None and turn.position == position else turn


@dataclass(frozen=True, slots=True)
class Closing:
    """The chunks that an event lets be read, oldest first, and what is in hand after it."""

    chunks: tuple[Chunk, ...]
    hand: Hand


def closing(message: Localized, was: Hand) -> Closing:
    """Return what is to be read with a turn; ``was`` is what was in hand. The channel itself says nothing."""
    normalized, placement, space = message.normalized, message.placement, message.header.space
    hand = was.without(normalized.revises)
    if normalized.turn.speaker.role is Role.SYSTEM:
        return Closing((), hand)
    if normalized.revises is not None:
        return Closing((*hand.alone(space, hand.held), Chunk((message,))), Hand(hand.open))
    if placement.interaction == message.header.position:
        return _opening(message, hand)
    if hand.open is not None and placement.interaction == hand.open.position:
        return Closing(_in_order(*hand.alone(space, hand.held), *_answered(hand.open, message)), Hand())
    if hand.held is not None and placement.interaction == hand.held.position:
        return Closing(_answered(hand.held, message), Hand(hand.open))
    return _late(message, hand)


def emptied(space: Space, was: Hand, speaker: str | None) -> Closing:
    """Return what is read when a speaker (``None``: anybody) waits for no reply any more."""
    due = was.of(speaker)
    hand = was
    for turn in due:
        hand = hand.without(turn.position)
    return Closing(was.alone(space, *due), hand)


def _opening(message: Localized, hand: Hand) -> Closing:
    """Return what an opening turn closes: the open chunk, which is held if nothing else is there to be read."""
    before, opened = hand.alone(message.header.space, hand.open, hand.held), as_open(message)
    if opened is None:
        return Closing((*before, Chunk((message,))), Hand())
    if len(before) > 1 or any(_corrects(turn) for turn in (message, *(chunk.turns[0] for chunk in before))):
        return Closing(before, Hand(opened))
    return Closing((), Hand(opened, hand.open or hand.held))


def _late(message: Localized, hand: Hand) -> Closing:
    """Return what a reply to a chunk that has closed brings: it is a chunk alone, and the open one stays open."""
    before, held = hand.alone(message.header.space, hand.held), as_open(message)
    if held is None or bool(before) != _corrects(message):
        return Closing((*before, Chunk((message,))), Hand(hand.open))
    return Closing(before, Hand(hand.open, held))


def _answered(turn: Open, message: Localized) -> tuple[Chunk, ...]:
    """Return a turn with its reply, each for itself if the reply is suspect."""
    said = turn.again(message.header.space)
    return (Chunk((said,)), Chunk((message,))) if message.normalized.suspect else (Chunk((said, message)),)


def _in_order(*chunks: Chunk) -> tuple[Chunk, ...]:
    return tuple(sorted(chunks, key=lambda chunk: chunk.turns[0].header.position))


def _corrects(message: Localized) -> bool:
    text = message.normalized.text
    return any(corrects(text[start:end]) for start, end in sentence_bounds(text))
