"""The last turns of a space as a language model is shown them before the one that it is to understand."""

from __future__ import annotations

from schemas.normalized import Normalized
from stages.normalize.clean import label
from stages.packed import Packed
from stages.stored import clip, size

MOST_HEARD = 4
"""Turns before that are shown: what "it" and "yes, that one" mean stands in the last few."""

HEARD_BYTES = 300
"""Bytes of one of them as it is stored."""

TURN_BYTES = 500
"""Bytes of texts that a state may keep of a turn in all."""

_NAME_BYTES, _TOPIC_BYTES = 48, 48
_FRAME = 4
"""Bytes of a stored turn around its text: quotes and commas."""


class Heard(Packed):
    """The beginning of a recent turn, with the name of its speaker and its topic."""

    position: int
    speaker: str
    topic: str
    text: str

    def shown(self) -> dict[str, str]:
        """Return the turn as it stands in a request."""
        return {"speaker": self.speaker, "topic": self.topic, "text": self.text}


def heard(message: Normalized, others: int) -> Heard:
    """Return what is kept of a turn; ``others`` are the bytes of texts that the state keeps of it already."""
    speaker, topic = clip(label(message.turn.speaker), _NAME_BYTES), clip(message.z.topic, _TOPIC_BYTES)
    room = min(HEARD_BYTES, TURN_BYTES - others) - size((message.header.position, speaker, topic)) - _FRAME
    text = " ".join(message.text[:HEARD_BYTES].split())
    return Heard(position=message.header.position, speaker=speaker, topic=topic, text=clip(text, room))
