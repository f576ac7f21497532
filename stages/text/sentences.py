"""Sentences of any script, linear in the length of the text.

The boundaries inside a line are sentencex's (rules and abbreviations of some 300 languages; MIT). Line ends are ours:
chats and lists put one statement a line, so a line end is a boundary unless the text is plainly wrapped there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sentencex import get_sentence_boundaries  # type: ignore[import-untyped]  # the package has no annotations

from schemas.span import Span

_LANGUAGE = "en"
"""Its full stops are those of every script; only the abbreviations are English. Guessing languages would not pay."""

_WRAPPED = 60
"""Characters from which a line that goes on in lower case counts as wrapped: mail wraps at 65 to 78."""

_WINDOW = 4_000
"""Characters that the library sees at once: runs of quotes take it quadratic time. A longer sentence is cut."""

_LINE = re.compile(r"[^\n]+")
_NUMBER = re.compile(r"\s*\(?(?:\d{1,3}|[A-Za-z])[.)]\s*")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_SPACE = re.compile(r"[^\S\n]")
"""White space as the library can take it: behind an initial it stops at one that is no single byte."""

_PLAIN = re.compile(r"[^.!?]+[.!?]*|[.!?]+")
_ENDS = frozenset(".!?:;…。\uff01\uff1f\uff1b\uff1a؟।")


def sentences(text: str) -> tuple[Span, ...]:
    """Return the sentences of ``text`` in order, without the space around them.

    Every character that is not white space is in exactly one of them. List items and headings are sentences of
    their own.
    """
    return tuple(Span(start=start, end=end) for start, end in sentence_bounds(text))


def sentence_bounds(text: str) -> list[tuple[int, int]]:
    """Return what ``sentences`` returns as plain (start, end): ten times as fast where there are many."""
    scanned = text if text.isascii() else _SPACE.sub(" ", _SURROGATE.sub("\ufffd", text))
    return [
        bounds
        for start, end in _lines(scanned)
        for first, last in _split(scanned[start:end])
        if (bounds := trimmed(text, start + first, start + last)) is not None
    ]


def _split(line: str) -> list[tuple[int, int]]:
    """Return the bounds of the sentences of a line; the number of a list item belongs to its first sentence."""
    found = list(_windows(line))
    if len(found) > 1 and _NUMBER.fullmatch(line[: found[0][1]]):
        found[:2] = [(found[0][0], found[1][1])]
    return found


def _windows(line: str) -> Iterator[tuple[int, int]]:
    """Yield the library's sentences, asked for a window at a time; the last of a window is asked for again."""
    start = 0
    while start < len(line):
        window = line[start : start + _WINDOW]
        found = [(start + first, start + last) for first, last in _boundaries(window)]
        whole = start + len(window) == len(line)
        if not whole and len(found) == 1:
            found = [(start, start + (window.rfind(" ", _WINDOW // 2) + 1 or _WINDOW))]
        elif not whole:
            found.pop()
        yield from found
        start = len(line) if whole else found[-1][1]


def _boundaries(text: str) -> list[tuple[int, int]]:
    """Ask the library; where its native code panics, full stops alone decide: one odd text must not stop a stage."""
    try:
        return [(each["start_index"], each["end_index"]) for each in get_sentence_boundaries(_LANGUAGE, text)]
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # a BaseException that its module doesn't let us name
            raise
        return [match.span() for match in _PLAIN.finditer(text)]


def trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return ``[start, end)`` of ``text`` without the space at its ends, ``None`` if nothing else is in it."""
    part = text[start:end]
    inner = part.strip()
    if not inner:
        return None
    first = start + len(part) - len(part.lstrip())
    return first, first + len(inner)


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield the bounds of the lines of ``text``, those that are one wrapped line together."""
    begin, last = 0, None
    for line in _LINE.finditer(text):
        if last is not None and not _wrapped(last.group(), line.group(), line.start() - last.end()):
            yield begin, last.end()
            last = None
        begin = line.start() if last is None else begin
        last = line
    if last is not None:
        yield begin, last.end()


def _wrapped(line: str, following: str, newlines: int) -> bool:
    tail = line.rstrip()[-1:]
    return newlines == 1 and len(line) >= _WRAPPED and tail not in _ENDS and following[:1].islower()
