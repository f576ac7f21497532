"""The lines of a text and what each of them begins with: a number, a bullet, a fence, a key. Linear, in any script."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from stages.text.ordinals import HAN, han


class Kind(Enum):
    """What a line is by itself."""

    BLANK = auto()
    TEXT = auto()
    HEADING = auto()
    NUMBER = auto()
    BULLET = auto()
    ROW = auto()
    PAIR = auto()
    CODE = auto()
    FENCE = auto()


class Style(Enum):
    """How a numbered line is numbered: lines of one list are numbered alike."""

    NONE = auto()
    NUMBER = auto()
    STEP = auto()
    LETTER = auto()
    HEADING = auto()


@dataclass(frozen=True, slots=True)
class Line:
    """Characters ``[start, end)`` of the text. ``content`` is where what it says begins, behind indent and marker."""

    kind: Kind
    start: int
    end: int
    indent: int = 0
    content: int = 0
    style: Style = Style.NONE
    number: int = 0


_HEAD = r"(?P<indent>[ \t\u3000]*)(?P<hashes>#{1,6}[ \t]+)?(?:\*\*|__)?"
_CLOSED = r"(?:\*\*|__)?(?:[ \t\u3000]+|$)"
_STEP = re.compile(
    rf"{_HEAD}step[ \t]+(?P<number>\d{{1,3}})(?:\*\*|__)?[ \t]*(?:[:.)\uff1a]|[-\u2013\u2014](?=[ \t]))[ \t]*",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    rf"{_HEAD}[(\uff08\[]?(?P<number>\d{{1,3}})(?:[.):\]]{_CLOSED}|[\u3001\uff0e\uff09\uff1a][ \t\u3000]*)"
)
_LETTER = re.compile(rf"{_HEAD}\(?(?P<letter>[A-Za-z])[.)]{_CLOSED}")
_CJK = re.compile(
    rf"{_HEAD}(?:第(?P<nth>[{HAN}\d]{{1,3}})[步条條項项点點]?[:\uff1a、\uff0c]?"
    rf"|(?P<han>[{HAN}]{{1,3}})[、\uff0e.\uff1a])[ \t\u3000]*"
)
_CIRCLED = re.compile(rf"{_HEAD}(?P<circled>[\u2460-\u2473\u2776-\u277f\u2780-\u2789\u278a-\u2793])[ \t\u3000]*")
_BULLET = re.compile(
    r"(?P<indent>[ \t\u3000]*)(?:[-*+\u2013\u2014\u2212](?:[ \t]+|$)"
    r"|[\u2022\u2023\u25e6\u25aa\u25cf\u25cb\u30fb\u00b7\u2043\u25b8\u25ba\u27a4][ \t\u3000]*)(?:\[[ xX]\][ \t]+)?"
)
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+|(?:\*\*|__)[^*_\n]{1,80}(?:\*\*|__):?[ \t]*$")
_RULE = re.compile(r"[ \t]*(?:-[ \t]*){3,}$|[ \t]*(?:\*[ \t]*){3,}$|[ \t]*(?:_[ \t]*){3,}$")
_PAIR = re.compile(
    r"[ \t]*(?:\*\*|__)?(?P<key>[^\W\d_][^:\uff1a|`\n*?!.;]{0,39}?)(?:\*\*|__)?"
    r"(?::(?:\*\*|__)?[ \t]+|\uff1a(?:\*\*|__)?)(?=\S)"
)
_KEY_WORDS = 4
"""Words of a key: with more of them what stands before a colon is a sentence."""

_TAB = 4
_WORTH = 64
"""Characters of a line in which its marker is looked for."""


def lines(text: str) -> list[Line]:
    """Return the lines of ``text`` in order; those between fences are code."""
    found: list[Line] = []
    fence = ""
    for start, end in _bounds(text):
        opening = _FENCE.match(text, start, end)
        if fence:
            closes = opening is not None and opening[1].startswith(fence) and not text[opening.end() : end].strip()
            found.append(Line(Kind.FENCE if closes else Kind.CODE, start, end))
            fence = "" if closes else fence
        elif opening is not None:
            fence = opening[1]
            found.append(Line(Kind.FENCE, start, end))
        else:
            found.append(_line(text, start, end))
    return found


def _bounds(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield start, end
        start = end + 1


def _line(text: str, start: int, end: int) -> Line:
    head = text[start : min(end, start + _WORTH)]
    if not head.strip() and not text[start:end].strip():
        return Line(Kind.BLANK, start, end)
    if _RULE.match(text, start, end):
        return Line(Kind.TEXT, start, end, content=end)
    return _numbered(head, start, end) or _bulleted(head, start, end) or _plain(text, head, start, end)


def _plain(text: str, head: str, start: int, end: int) -> Line:
    indent = _width(head[: len(head) - len(head.lstrip())])
    if _HEADING.match(text, start, end):
        return Line(Kind.HEADING, start, end, indent, start)
    if "|" in text[start:end]:
        return Line(Kind.ROW, start, end, indent, start)
    pair = _PAIR.match(head)
    if pair is not None and len(pair["key"].split()) <= _KEY_WORDS:
        return Line(Kind.PAIR, start, end, indent, start)
    return Line(Kind.TEXT, start, end, indent, start)


def _bulleted(head: str, start: int, end: int) -> Line | None:
    found = _BULLET.match(head)
    return None if found is None else Line(Kind.BULLET, start, end, _width(found["indent"]), start + found.end())


def _numbered(head: str, start: int, end: int) -> Line | None:
    for pattern, style in (
        (_STEP, Style.STEP),
        (_NUMBER, Style.NUMBER),
        (_CIRCLED, Style.NUMBER),
        (_CJK, Style.NUMBER),
        (_LETTER, Style.LETTER),
    ):
        found = pattern.match(head)
        if found is not None:
            number = _value(found)
            own = Style.HEADING if found["hashes"] and style is not Style.STEP else style
            return Line(Kind.NUMBER, start, end, _width(found["indent"]), start + found.end(), own, number)
    return None


def _value(found: re.Match[str]) -> int:
    groups = found.groupdict()
    if groups.get("number"):
        return int(groups["number"])
    if groups.get("circled"):
        return int(unicodedata.numeric(groups["circled"]))
    if groups.get("letter"):
        return ord(groups["letter"].lower()) - ord("a") + 1
    return han(groups.get("nth") or groups.get("han") or "")


def _width(indent: str) -> int:
    return sum(_TAB if sign == "\t" else 2 if sign == "\u3000" else 1 for sign in indent)
