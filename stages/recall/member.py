"""The member of a list that a question asks for by its number: "the third one you suggested" (mechanics, recall 7)."""

from __future__ import annotations

import re
from asyncio import gather
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from schemas.memory import RecordKind, RecordRow
from schemas.recall import Question
from stages.ports import Embedder, Found, Match, Search
from stages.recall.candidate import Candidate
from stages.recall.changes import changes
from stages.recall.retrieve import Scope
from stages.recall.scale import UNIT, Scale
from stages.text.ordinals import GENERIC, ORDINAL, Ordinal, counted, nth, ordinal
from stages.text.tokens import content_tokens, tokens

_KINDS = frozenset({RecordKind.STRUCTURED})

_LIMIT = 24
"""Structured records asked for by sense and by words each: few spaces have more that are about the same."""

_NEWEST = 4
"""Structured records looked at because they are the newest: "the third one" may say no more than that."""

_NEAR = UNIT // 4
"""What the newest of them gains over the oldest seen: a quarter of a deviation, so that it decides among likes."""

_ASKED = re.compile(rf"(?P<ordinal>{ORDINAL})(?P<called>(?:\s+[^\W\d_]+){{0,3}})", re.IGNORECASE)

_ENDS = frozenset(
    "you i we he she they it that which who on in of from for to at was is were are did do had has have and or".split()
)
"""Words with which the name of what is asked for has ended: "the third Italian restaurant you found"."""

_MEMBER = frozenset(content_tokens("one ones item step point option entry row line bullet suggestion idea tip"))
"""What only members of lists are called. A "first thing" or "last place" may be no list's."""

_LISTING = frozenset(content_tokens("list suggest recommend step option idea item suggestion table plan"))
"""Stems of which one has to be in a question whose ordinal stands alone ("who came last?" is about no list)."""

_CALENDAR = frozenset(
    content_tokens(
        "second minute hour day night morning afternoon evening weekend week month quarter season year decade century "
        "time spring summer autumn fall winter monday tuesday wednesday thursday friday saturday sunday january "
        "february april june july august september october november december"
    )
)
"""Stems of what is counted where no list is: "last week", "the first time". Plans have days, so that "the second day
of the plan" asks for one."""

_EMPTY = GENERIC | frozenset(
    content_tokens("list you suggested recommended gave mentioned said listed told made wrote me again earlier before")
)
"""Stems of what any question for a member says: they don't tell one list from another."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A member asked for. ``nouns`` are the stems of what it is called where lists don't call all members so."""

    at: Ordinal
    nouns: frozenset[str] = field(default_factory=frozenset)

    def index(self, row: RecordRow) -> int | None:
        """Return the index of the member in a record, ``None`` where that has none of this number, or no such ones."""
        if not self.nouns <= counted(f"{row.heading} {row.form}"):
            return None
        return self.at.index(len(row.members), row.numbers)


def asked(question: str) -> Asked | None:
    """Return which member of a list a question asks for, if it does.

    A bare figure is none ("in 12 days"); an ordinal before a noun of its own ("the second café") is one only for lists
    whose heading has that noun.
    """
    stems = frozenset(content_tokens(question))
    for found in _ASKED.finditer(question):
        at = None if found["ordinal"].isdecimal() else ordinal(found["ordinal"])
        if at is not None and at.by_number:
            return Asked(at)
        noun = _noun(found["called"])
        if at is not None and _is_time(at, found["called"], stems):
            continue
        if at is not None and (noun - GENERIC or noun & _MEMBER or stems & _LISTING):
            return Asked(at, noun - GENERIC)
    return nth_asked(question)


def _is_time(at: Ordinal, called: str, stems: frozenset[str]) -> bool:
    """Tell whether an ordinal with what it counts says when: "last" before a time always does."""
    near = called.split()[:1]
    return not _CALENDAR.isdisjoint(content_tokens(" ".join(near))) and (at.number < 0 or not stems & _LISTING)


def _noun(called: str) -> frozenset[str]:
    """Return the stem of the last word of what is counted."""
    own = list(takewhile(lambda word: word.casefold() not in _ENDS, called.split()))
    member = next((word for word in own if _MEMBER.issuperset(content_tokens(word)) and content_tokens(word)), None)
    return frozenset(content_tokens(member or own[-1])) if own else frozenset()


def nth_asked(question: str) -> Asked | None:
    """Return what a question in Chinese or Japanese asks for ("第三个")."""
    at = nth(question)
    return None if at is None else Asked(at)


@dataclass(frozen=True, slots=True)
class Member:
    """The member found: its record as of the question, and its index."""

    row: RecordRow
    index: int

    @property
    def shown(self) -> str:
        """The member with its number, then the whole list and the turn that it stands in."""
        row = self.row
        number = row.numbers[self.index] if row.numbers else self.index + 1
        edits = f", edited in {', '.join(reversed(row.provenance[:-1]))}" if len(row.provenance) > 1 else ""
        revision = f", revision {row.revision}" if row.revision else ""
        where = f"[of the {row.form} of {len(row.members) + row.more} in {row.provenance[-1]}{edits}{revision}]"
        return f"{number}. {row.members[self.index].strip()}\n{where}\n{row.text}"


async def member(search: Search, embedder: Embedder, scope: Scope, question: Question) -> Member | None:
    """Return the member that a question asks for, from the newest state of the list that fits it best.

    Raises:
        Unavailable: if the index or the model does not answer.
    """
    wanted = asked(question.question)
    if wanted is None:
        return None
    found = await _found(search, embedder, scope, question.question)
    became = await changes(search, scope, found)
    rows = dict.fromkeys(one.record.id for one in found)
    known = {one.record.id: one.record for one in found}
    newest = [became.of(name) or known[name] for name in rows]
    fitting = ((row, wanted.index(row)) for row in newest if row.members)
    return next((Member(row, at) for row, at in fitting if at is not None), None)


async def _found(search: Search, embedder: Embedder, scope: Scope, text: str) -> list[Found]:
    """Return the structured records that may be meant, best first; the newest first where the question says no more."""
    where = scope.where(_KINDS)
    telling = [token for token in tokens(text) if token in set(content_tokens(text)) - _EMPTY]
    newest = [one for one in await search.matching(where, _NEWEST) if scope.shows(one.record)]
    if not newest or not telling:
        return newest
    vector = await embedder.embed_query(text)
    lists = await gather(search.dense(where, vector, _LIMIT), search.sparse(where, telling, _LIMIT))
    order = _ranked(lists)
    read = await search.fetch(scope.space, scope.as_of, order)
    return [one for one in read if scope.shows(one.record)]


def _ranked(lists: Sequence[Sequence[Match]]) -> list[str]:
    """Return the ids of records by the sum of their standardized scores, likes by how new they are."""
    since = {match.record_id: match.since for matches in lists for match in matches}
    first, last = min(since.values(), default=0), max(since.values(), default=0)
    score = {name: _NEAR * (at - first) // max(last - first, 1) for name, at in since.items()}
    for matches in lists:
        scale = Scale.of([match.score for match in matches], len(since) - len(matches))
        given = {match.record_id: scale(match.score) for match in matches}
        for name in score:
            score[name] += given.get(name, scale(0))
    return sorted(score, key=lambda name: (-score[name], name))


def raised(
    order: Sequence[Candidate], rows: Mapping[str, RecordRow], found: Member
) -> tuple[list[Candidate], dict[str, RecordRow]]:
    """Return the candidates with the member's record above all, and the bodies with what it shows."""
    row = found.row
    turn = row.provenance[0]
    best = max((one.score for one in order), default=0)
    known = next((one for one in order if one.turn_id == turn), None)
    score = known.score if known is not None else 0
    bare = Candidate(turn, score, known.why if known else {}, row.id, item=row.id, branch=row.branch)
    first = bare.plus("ordinal", best + UNIT - score)
    others = [one for one in order if one.turn_id != turn]
    return [first, *others], {**rows, row.id: row.model_copy(update={"text": found.shown})}
