"""When a language model is asked: with a whole segment, or as many messages, so that a turn costs a fifth of a call.

In a channel most who leave working memory leave alone, and what had to wait comes due message by message.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from stages.route.ids import item_id
from stages.route.targets import Due, Reader
from stages.route.working import SEGMENT, Leaving, Message, ordinals


async def gathered(reader: Reader, segments: Sequence[Leaving], gone: Collection[str], *, now: bool) -> Due:
    """Return what is due together; nothing before there is enough of it, unless it has to be ``now``.

    Raises:
        Unavailable: if the index does not answer.
    """
    if now or _enough(reader, segments):
        return _together(reader, await reader.due(segments, gone), segments)
    leaving = [_later(message) for segment in segments for message in segment.messages if message.route]
    waiting = sorted((*reader.state.waiting, *leaving), key=lambda message: message.position)
    return Due([], {}, tuple(waiting), reader.state.judging)


def _enough(reader: Reader, segments: Sequence[Leaving]) -> bool:
    shown = [message for message in reader.state.waiting if message.position <= reader.as_of]
    leaving = [message for segment in segments for message in segment.messages if message.route]
    return len(shown) + len(leaving) >= SEGMENT or any(len(segment.messages) >= SEGMENT for segment in segments)


def _together(reader: Reader, due: Due, segments: Sequence[Leaving]) -> Due:
    """Let all items of a message wait if one has to: a turn supports a record once, at one position."""
    leaving = {message.position: message for segment in segments for message in segment.messages}
    waiting = tuple(_later(leaving.get(message.position, message)) for message in due.waiting)
    late = {item_id(reader.space, message.position, n) for message in waiting for n in ordinals(message.route)}
    return replace(due, items=[one for one in due.items if one.id not in late], waiting=waiting)


def _later(message: Message) -> Message:
    """Return a message that has left working memory, with its items still to be routed."""
    return message.model_copy(update={"items": 0})
