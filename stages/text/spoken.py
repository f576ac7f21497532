"""How a turn is written where it is searched: with the name of who said it in front."""

from __future__ import annotations

from schemas.memory import RecordKind, RecordRow
from schemas.turn import Speaker


def spoken(speaker: Speaker, text: str) -> str:
    """Return ``Name: text``.

    Questions name people, so dense search over turns gains 17 points of evidence recall at 10 by the name (LoCoMo,
    five conversations, dense alone), and fused recall 2.
    """
    return f"{speaker.label}: {text}"


def searched(row: RecordRow) -> str:
    """Return the text by which a record is searched: a turn with its speaker's name, any other as it is."""
    if row.kind is RecordKind.TURN and row.speaker is not None:
        return spoken(row.speaker, row.text)
    return row.text
