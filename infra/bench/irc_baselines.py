"""Two baselines of disentanglement (Kummerfeld et al. 2019, section 6), to set a bench's figures beside.

On the development split they score link F 30.3 and 56.4 (published: 30.2 and 56.4) and exact F 0 and 20.8 (0 and 20.1).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from infra.bench.irc_scores import Pair

SAME_SPEAKER_REACH = 15
"""A speaker is taken to go on with their own message that is fewer than this many lines back, as published."""

_MESSAGE = re.compile(r"\[\d\d:\d\d\] <(?P<speaker>[^>]*)> ?(?P<text>.*)")
_ACTION = re.compile(r"=== (?P<speaker>\S+) (?!\[|is now known as|has (?:joined|left|quit|changed))(?P<text>.+)")


class Line(NamedTuple):
    """A line of a channel's log; ``speaker`` is ``None`` for what the channel itself says."""

    speaker: str | None
    text: str


def read_log(text: str) -> list[Line]:
    """Read a log: ``[02:02] <nick> text``, actions as ``=== nick waves``; other lines have no speaker."""
    return [_line(line) for line in text.removesuffix("\n").split("\n")]


def _line(line: str) -> Line:
    match = _MESSAGE.fullmatch(line) or _ACTION.fullmatch(line)
    return Line(match["speaker"], match["text"]) if match else Line(None, line)


def previous_message(lines: Sequence[Line]) -> set[Pair]:
    """Link every message to the one before it; notices stand alone."""
    links: set[Pair] = set()
    last: int | None = None
    for number, line in enumerate(lines):
        links.add((number if line.speaker is None or last is None else last, number))
        last = number if line.speaker is not None else last
    return links


def addressee_or_same_speaker(lines: Sequence[Line]) -> set[Pair]:
    """Link to the last message of the first person named, else to the speaker's own within reach, else to itself."""
    last: dict[str, int] = {}
    links: set[Pair] = set()
    for number, line in enumerate(lines):
        links.add((_antecedent(number, line, last), number))
        if line.speaker is not None:
            last[line.speaker] = number
    return links


def _antecedent(number: int, line: Line, last: dict[str, int]) -> int:
    if line.speaker is None:
        return number
    words = (word.rstrip(":,") for word in line.text.split())
    named = next((last[word] for word in words if word in last and word != line.speaker), None)
    own = last.get(line.speaker, -SAME_SPEAKER_REACH)
    if named is not None:
        return named
    return own if number - own < SAME_SPEAKER_REACH else number
