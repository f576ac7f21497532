"""Blocks of lines that belong together: code, tables, numbered and bulleted lists, key-value pairs. Linear."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from schemas.structured import Form
from stages.extract_per_view.structured_lines import Kind, Line, Style, lines

_LEAST = 2
"""Members of a list, and lines of key-value pairs: one alone is a sentence with a mark before it."""

_APART = 40
"""Lines between two numbers of one list: paragraphs and code may stand between steps, another topic may not."""

_NESTED = 2
"""Columns by which a nested item is indented."""

_WRAPPED = 60
"""Characters from which a line that goes on in small letters is wrapped, as in ``stages.text.sentences``."""

_ALIGNED = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_EDGES = " \t|"
_TEXTS = frozenset({Kind.TEXT, Kind.PAIR, Kind.ROW})


@dataclass(frozen=True, slots=True)
class Block:
    """Lines ``[first, last]`` of one form; ``members`` are characters ``[start, end)`` of the text, in order.

    ``numbers`` are those written before the members, ``header`` the characters of a table's names of columns.
    """

    form: Form
    first: int
    last: int
    members: tuple[tuple[int, int], ...]
    numbers: tuple[int, ...] = ()
    header: tuple[int, int] | None = None


@dataclass(slots=True)
class Blocks:
    """Finds the blocks of a text. A line belongs to one block, code in a step to the code and not to the step."""

    text: str
    lines: Sequence[Line] = field(init=False)
    found: list[Block] = field(default_factory=list, init=False)
    _taken: bytearray = field(init=False)

    def __post_init__(self) -> None:
        """Cut the text into lines."""
        self.lines = lines(self.text)
        self._taken = bytearray(len(self.lines))

    def all(self) -> list[Block]:
        """Return the blocks in the order in which they begin."""
        self._code()
        self._tables()
        self._numbered()
        self._bulleted()
        self._pairs()
        return sorted(self.found, key=lambda block: (block.first, block.last))

    def _add(self, block: Block) -> None:
        self.found.append(block)
        self._taken[block.first : block.last + 1] = b"\1" * (block.last + 1 - block.first)

    def _code(self) -> None:
        for first, last in self._runs(Kind.CODE):
            written = [line for line in self.lines[first : last + 1] if self._says(line)]
            if written:
                self._add(Block(Form.CODE, first, last, tuple((line.start, line.end) for line in written)))

    def _says(self, line: Line) -> bool:
        return line.kind is Kind.CODE and not self.text[line.start : line.end].isspace() and line.end > line.start

    def _runs(self, kind: Kind) -> Iterator[tuple[int, int]]:
        """Yield the first and last of adjacent lines of a kind that no block has yet."""
        first = None
        for at, line in enumerate(self.lines):
            inside = line.kind is kind and not self._taken[at]
            if inside and first is None:
                first = at
            elif not inside and first is not None:
                yield first, at - 1
                first = None
        if first is not None:
            yield first, len(self.lines) - 1

    def _tables(self) -> None:
        for first, last in self._runs(Kind.ROW):
            aligned = first + 1
            if aligned < last and self._is_aligned(aligned) and not self._is_aligned(first):
                rows = tuple(self._inner(at) for at in range(aligned + 1, last + 1))
                self._add(Block(Form.TABLE, first, last, tuple(row for row in rows if row), header=self._inner(first)))

    def _is_aligned(self, at: int) -> bool:
        line = self.lines[at]
        return _ALIGNED.match(self.text, line.start, line.end) is not None

    def _inner(self, at: int) -> tuple[int, int] | None:
        line = self.lines[at]
        shown = self.text[line.start : line.end]
        inner = shown.strip(_EDGES)
        start = line.start + len(shown) - len(shown.lstrip(_EDGES))
        return (start, start + len(inner)) if inner else None

    def _numbered(self) -> None:
        for run in self._sequences():
            if len(run) >= _LEAST:
                self._add(self._list(run))

    def _sequences(self) -> Iterator[list[int]]:
        """Yield runs of numbered lines that count on, nested ones left out; a heading between them ends a run."""
        run: list[int] = []
        bullet: int | None = None
        for at, line in enumerate(self.lines):
            if line.kind is Kind.BULLET:
                bullet = line.indent
            elif line.indent == 0 and line.kind in _TEXTS:
                bullet = None
            elif line.kind is Kind.HEADING:
                yield run
                run, bullet = [], None
            elif line.kind is Kind.NUMBER and run and self._goes_on(run, line, at):
                run.append(at)
            elif line.kind is Kind.NUMBER and not self._is_nested(run, line, bullet) and self._begins(line):
                yield run
                run = [at]
        yield run

    def _goes_on(self, run: Sequence[int], line: Line, at: int) -> bool:
        first, last = self.lines[run[0]], self.lines[run[-1]]
        alike = line.style is last.style and abs(line.indent - first.indent) < _NESTED and at - run[-1] <= _APART
        same = (
            line.number == last.number == first.number and at - run[-1] <= _LEAST
        )  # Markdown counts "1. 1. 1." itself
        return alike and (line.number > last.number or same)

    def _is_nested(self, run: Sequence[int], line: Line, bullet: int | None) -> bool:
        inside = bool(run) and line.indent >= self.lines[run[0]].indent + _NESTED
        return inside or (bullet is not None and line.indent >= bullet + _NESTED)

    def _begins(self, line: Line) -> bool:
        """Tell whether a list can begin here: letters count from "a", since initials look like them."""
        return line.style is not Style.LETTER or line.number == 1

    def _list(self, run: Sequence[int]) -> Block:
        """Return the list whose markers are these lines. What stands between two of them is the first one's."""
        stops = [*run[1:], len(self.lines)]
        ends = [self._member_end(at, stop) for at, stop in zip(run, stops, strict=True)]
        marked = [self.lines[at] for at in run]
        members = tuple((line.content, self.lines[end].end) for line, end in zip(marked, ends, strict=True))
        numbers = tuple(line.number for line in marked if line.kind is Kind.NUMBER)
        form = Form.STEPS if marked[0].style is Style.STEP else Form.LIST
        return Block(form, run[0], ends[-1], members, numbers if len(set(numbers)) > 1 else ())

    def _member_end(self, at: int, stop: int) -> int:
        """Return the last line of the member that begins at ``at`` and ends before ``stop``."""
        base, end, gap = self.lines[at], at, False
        for other in range(at + 1, stop):
            line = self.lines[other]
            if line.kind is Kind.BLANK:
                gap = True
                continue
            if not self._belongs(base, self.lines[other - 1], line, gap=gap):
                break
            end = other
        return end

    def _belongs(self, base: Line, before: Line, line: Line, *, gap: bool) -> bool:
        """Tell whether a line is part of the member of ``base``: indented below it, or wrapped."""
        if line.kind in {Kind.CODE, Kind.FENCE, Kind.HEADING}:
            return False
        if line.indent > base.indent:
            return True
        if line.kind is Kind.BULLET:
            return base.kind is Kind.NUMBER
        long = before.end - before.start >= _WRAPPED
        return not gap and long and line.kind in _TEXTS and self.text[line.content].islower()

    def _bulleted(self) -> None:
        run: list[int] = []
        for at, line in enumerate(self.lines):
            if run and (self._taken[at] or not self._stays(run, at)):
                self._end(run)
                run = []
            if line.kind is Kind.BULLET and not self._taken[at] and (not run or line.indent < self._below(run)):
                run.append(at)
        self._end(run)

    def _stays(self, run: Sequence[int], at: int) -> bool:
        """Tell whether the list of these bullets still goes on at a line."""
        first, line = self.lines[run[0]], self.lines[at]
        if line.kind is Kind.BLANK:
            return True
        if line.kind is Kind.BULLET:
            return line.indent > first.indent - _NESTED
        gap = self.lines[at - 1].kind is Kind.BLANK
        return self._belongs(first, self.lines[at - 1], line, gap=gap)

    def _below(self, run: Sequence[int]) -> int:
        return self.lines[run[0]].indent + _NESTED

    def _end(self, run: Sequence[int]) -> None:
        if len(run) >= _LEAST:
            self._add(self._list(run))

    def _pairs(self) -> None:
        for first, last in self._runs(Kind.PAIR):
            if last - first + 1 >= _LEAST:
                rows = tuple((line.start, line.end) for line in self.lines[first : last + 1])
                self._add(Block(Form.PAIRS, first, last, rows))

    def above(self, block: Block) -> tuple[int, int] | None:
        """Return what is said just before a block, one blank line between them at most: its introduction."""
        at = block.first - 1
        while at >= 0 and self.lines[at].kind in {Kind.BLANK, Kind.FENCE} and block.first - at <= _LEAST + 1:
            at -= 1
        if at < 0 or self.lines[at].kind in {Kind.BLANK, Kind.FENCE, Kind.CODE}:
            return None
        line = self.lines[at]
        return line.content, line.end

    def title(self, block: Block) -> tuple[int, int] | None:
        """Return the heading that stands nearest above a block, a few lines at most."""
        for at in range(block.first - 1, max(-1, block.first - 1 - 2 * _LEAST), -1):
            if self.lines[at].kind is Kind.HEADING:
                return self.lines[at].start, self.lines[at].end
        return None
