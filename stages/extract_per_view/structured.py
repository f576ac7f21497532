"""What an agent lists: blocks of a turn as bounded records with a heading and ordered members (ArborMem, section 3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from schemas.span import Span
from schemas.structured import Form
from schemas.turn import Role, Turn
from stages.extract_per_view.structured_blocks import Block, Blocks
from stages.text.beginning import beginning
from stages.text.sentences import sentence_bounds
from stages.text.tokens import content_tokens, words

RECORDS = 6
"""Records a turn: each costs an embedding. Of 200 long answers of an assistant two in three have no more."""

MEMBERS = 64
"""Members of a record. A longer list is data; nobody asks for its 65th."""

_MEMBER_BYTES = 400
"""Bytes of a member: two sentences."""

_MEMBERS_BYTES = 4_000
"""Bytes of all members of a record: a page, more than most of what agents write at a time."""

_HEADING_BYTES = 160

TEXT_BYTES = 1_000
"""Bytes of the members in a record's text: heading and all members fit an encoder of 256 word pieces."""

_LEAST_BYTES = 12
"""Bytes of a member that are shown in any case."""

_CUT = "…"

_MARKUP = re.compile(r"\*\*")
_EDGES = "#*_ \t:\uff1a"
_EXPLAINED = re.compile(r"\s*(?:[:\uff1a(\uff08]|\s[-\u2013\u2014]\s)")
"""Where the name of a member ends and what is said of it begins."""

_STEPS = frozenset("step steps instruction instructions direction directions procedure method recipe how".split())
_INTRODUCING = 400
"""Characters of the line above a block in which its last sentence is looked for."""

_EMPTY = frozenset(
    "list idea option suggest suggestion tip exampl follow step recommend key point item some few sever thing updat "
    " revis new overview summari detail code snippet featur note altern version".split()
)
"""Stems that any heading may have: two lists have to share more than those to be about the same."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Heading and members of a record, bounded. ``more`` counts the members left out, ``span`` is where it stands."""

    form: Form
    heading: str
    members: tuple[str, ...]
    numbers: tuple[int, ...] = ()
    more: int = 0
    span: Span | None = None

    @property
    def text(self) -> str:
        """The text by which the record is searched: all members, each by its share where they are long."""
        share = _share([len(member.encode()) for member in self.members], TEXT_BYTES)
        shown = (_clipped(member, share) for member in self.members)
        plain = self.form in {Form.CODE, Form.PAIRS}
        lined = shown if plain else (f"{number}. {member}" for number, member in zip(self.counted, shown, strict=True))
        left = [f"{_CUT} {self.more} more"] if self.more else []
        return "\n".join([*([self._headed] if self.heading else []), *lined, *left])

    @property
    def _headed(self) -> str:
        return f"{self.heading}:" if self.heading[-1].isalnum() else self.heading

    @property
    def counted(self) -> Sequence[int]:
        """The number of each member: as the turn writes it, else from 1."""
        return self.numbers or range(1, len(self.members) + 1)


class Listings(NamedTuple):
    """The records of a turn in its order, and how many there are beyond the bound."""

    found: tuple[Listing, ...] = ()
    more: int = 0


def listings(turn: Turn) -> Listings:
    """Return what an agent's turn lists; people list little, and what they list is theirs to correct."""
    if turn.speaker.role is not Role.AGENT:
        return Listings()
    blocks = Blocks(turn.text)
    found = blocks.all()
    made = (_listing(blocks, block) for block in found[:RECORDS])
    return Listings(tuple(one for one in made if one is not None), max(0, len(found) - RECORDS))


def _listing(blocks: Blocks, block: Block) -> Listing | None:
    text = blocks.text
    said = [(at, _plain(text[start:end], block.form)) for at, (start, end) in enumerate(block.members)]
    told = [(at, member) for at, member in said if member]
    if not told:
        return None
    numbers = tuple(block.numbers[at] for at, _ in told[:MEMBERS]) if block.numbers else ()
    heading = _heading(blocks, block)
    return Listing(
        form=Form.STEPS if block.form is Form.LIST and block.numbers and _is_steps(heading) else block.form,
        heading=heading,
        members=bounded(member for _, member in told[:MEMBERS]),
        numbers=() if numbers == tuple(range(1, len(numbers) + 1)) else numbers,
        more=max(0, len(told) - MEMBERS),
        span=Span(start=block.members[0][0], end=block.members[-1][1]),
    )


def _plain(raw: str, form: Form) -> str:
    """Return a member in one line without its emphasis; a line of code keeps its indent."""
    return raw.rstrip() if form is Form.CODE else " ".join(_MARKUP.sub("", raw).split())


def bounded(members: Iterable[str]) -> tuple[str, ...]:
    """Return members within the bytes of a record: long ones are cut, and end in an ellipsis."""
    whole = tuple(_clipped(member, _MEMBER_BYTES) for member in members)
    if sum(len(member.encode()) for member in whole) <= _MEMBERS_BYTES:
        return whole
    share = _share([len(member.encode()) for member in whole], _MEMBERS_BYTES)
    return tuple(_clipped(member, share) for member in whole)


def _share(sizes: Sequence[int], room: int) -> int:
    """Return the most bytes that each may take so that all fit: what short ones leave, long ones have."""
    share = room
    for at, one in enumerate(sorted(sizes)):
        share = room // (len(sizes) - at)
        if one > share:
            break
        room -= one
    else:
        return max(sizes)
    return max(share, _LEAST_BYTES)


def _clipped(member: str, most: int) -> str:
    if len(member.encode()) <= most:
        return member
    return beginning(member, most - len(_CUT.encode())).rstrip() + _CUT


def _heading(blocks: Blocks, block: Block) -> str:
    """Return what a block is headed by: the sentence above it, the heading above that where it says nothing."""
    above = blocks.above(block)
    said = _shown(blocks, above, last=True)
    if _telling(said):
        return said
    header = _shown(blocks, block.header)
    return _shown(blocks, blocks.title(block)) or said or header


def _shown(blocks: Blocks, bounds: tuple[int, int] | None, *, last: bool = False) -> str:
    if bounds is None:
        return ""
    line = blocks.text[max(bounds[0], bounds[1] - _INTRODUCING) : bounds[1]]
    ends = sentence_bounds(line) if last else []
    shown = line[ends[-1][0] : ends[-1][1]] if ends else line
    return beginning(" ".join(_MARKUP.sub("", shown).split()).strip(_EDGES), _HEADING_BYTES)


def _telling(heading: str) -> frozenset[str]:
    """Return the stems of a heading that say what the list is of."""
    return frozenset(content_tokens(heading)) - _EMPTY


def _is_steps(heading: str) -> bool:
    return not _STEPS.isdisjoint(words(heading))


def topic(heading: str) -> str:
    """Return what two headings have in common that are about the same; empty where one could be any list's."""
    stems = _telling(heading)
    return " ".join(sorted(stems)) if len(stems) > 1 else ""


def name(member: str) -> str:
    """Return what a member is called, the same however it is explained ("Fig Tree (closed on Mondays)": "fig tree")."""
    found = _EXPLAINED.search(member)
    called = member[: found.start()] if found is not None else member
    return " ".join(words(called)[:8]) or " ".join(words(member)[:8]) or member.casefold()


def with_members(listing: Listing, members: Sequence[str]) -> Listing:
    """Return a listing with other members, counted from 1."""
    return replace(listing, members=tuple(members), numbers=(), span=None)
