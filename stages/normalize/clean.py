"""Text as it came to text that every later stage and store can hold (mechanics, normalize 1)."""

from __future__ import annotations

import re
import unicodedata

from schemas.turn import Attachment, Speaker, Turn

_REMOVED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""Controls but for line feed and tab (carriage returns have become line feeds), and lone surrogates."""

_MARKS = 30
"""Combining marks in a row that no script exceeds (Unicode Standard Annex 15, section 13): normalizing a longer run
takes quadratic time, 9 s for 80,000 marks."""

_JOINER = "\u034f"
"""Combining grapheme joiner: ends a run of marks for the normalizer and shows nothing."""


def clean(text: str) -> str:
    """Return ``text`` in NFC without NUL, other controls and lone surrogates, and without space at its ends.

    Line feeds and tabs stay, other line ends become line feeds; runs of over 30 combining marks are divided by an
    invisible joiner. Cleaning twice is cleaning once.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    kept = _REMOVED.sub("", lines)
    return unicodedata.normalize("NFC", kept if kept.isascii() else _divided(kept)).strip()


def cleaned_turn(turn: Turn) -> Turn:
    """Return ``turn`` with its text, its captions and the name of its speaker cleaned; ids stay as they are.

    A name is one line: texts are shown with it in front, and what follows a line end there would pass for another turn.
    """
    text, speaker = clean(turn.text), _cleaned_speaker(turn.speaker)
    attachments = tuple(_cleaned_attachment(each) for each in turn.attachments)
    if text == turn.text and speaker is turn.speaker and attachments == turn.attachments:
        return turn  # as most come; copies take longer than the cleaning
    return turn.model_copy(update={"text": text, "speaker": speaker, "attachments": attachments})


def label(speaker: Speaker) -> str:
    """Return a speaker's name as summaries and requests have it; an id may be of characters that show nothing."""
    return clean(speaker.label) or "someone"


def full_text(turn: Turn) -> str:
    """Return the text of a cleaned turn, then each caption on a line of its own in square brackets."""
    captions = [" ".join(each.caption.split()) for each in turn.attachments if each.caption]
    return "\n".join(part for part in (turn.text, *(f"[{caption}]" for caption in captions if caption)) if part)


def is_blank(turn: Turn) -> bool:
    """Tell whether a cleaned turn has nothing to read: only white space and invisible format characters."""
    return not any(_visible(char) for part in _parts(turn) for char in part)


def squeezed(text: str) -> str:
    """Return ``text`` without white space: what two texts have in common that differ in layout only."""
    return "".join(text.split())


def _parts(turn: Turn) -> tuple[str, ...]:
    return (turn.text, *(each.caption or "" for each in turn.attachments))


def _visible(char: str) -> bool:
    return not char.isspace() and unicodedata.category(char) not in {"Cf", "Mn"}


def _cleaned_speaker(speaker: Speaker) -> Speaker:
    name = " ".join(clean(speaker.name).split()) or None if speaker.name is not None else None
    return speaker if name == speaker.name else speaker.model_copy(update={"name": name})


def _cleaned_attachment(attachment: Attachment) -> Attachment:
    caption = clean(attachment.caption) or None if attachment.caption is not None else None
    return attachment if caption == attachment.caption else attachment.model_copy(update={"caption": caption})


def _divided(text: str) -> str:
    """Put a joiner after every ``_MARKS`` combining marks in a row, counted after decomposition."""
    out: list[str] = []
    run = 0
    for char in text:
        marks = _trailing_marks(char)
        run = run + marks if unicodedata.combining(char) else marks
        if run > _MARKS:
            out.append(_JOINER)
            run = marks
        out.append(char)
    return "".join(out)


def _trailing_marks(char: str) -> int:
    if char < "\u00c0":
        return 0
    if unicodedata.combining(char):
        return max(1, len(unicodedata.normalize("NFD", char)))
    parts = unicodedata.normalize("NFD", char)
    return sum(1 for part in parts if unicodedata.combining(part)) if len(parts) > 1 else 0
