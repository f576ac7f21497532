"""What topics and personas are made of: the keys of events and attributes, each with what is said under it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from schemas.extracted import OBJECT_SLOT
from schemas.memory import RecordKind, RecordRow
from stages.consolidate.contents import in_order, place
from stages.consolidate.plan import Live
from stages.consolidate.terms import terms
from stages.consolidate.units import BRANCH, about
from stages.consolidate.vocabulary import HEDGES, JOINING, LIGHT, MARKERS, NEGATIONS, PARTICLES, feels
from stages.text.tokens import content_tokens

MOST_NODES: Final = 2000
"""Keys of one owner that are compared, the newest: 2,000 take a second, and older ones seldom change."""

_OFTEN: Final = 500
"""Items in a thousand that may have a word that still tells one theme from another (ours; at least five may)."""

_LEAST_OFTEN: Final = 5
_LIGHT: Final = HEDGES | JOINING | LIGHT | MARKERS | NEGATIONS | PARTICLES
_SHORT: Final = 2
"""Words of what somebody likes that are told whole; of more ("sinking into other worlds") those that come again."""

_SHOWN: Final = 400
"""Characters by which a key of several statements is compared."""


@dataclass(frozen=True)  # no slots: what is asked for repeatedly is kept
class Node:
    """A key of one owner with its records, in the order in which they were said."""

    owner: str
    rows: tuple[RecordRow, ...]
    stems: frozenset[str]

    @cached_property
    def text(self) -> str:
        """The text by which it is compared with others."""
        return " ".join(dict.fromkeys(row.text for row in self.rows))[:_SHOWN]


def settled(live: Iterable[Live]) -> list[RecordRow]:
    """Return the events and attributes that are so now and that somebody said, in order (faults 1 and 13)."""
    kinds = (RecordKind.EVENT, RecordKind.ATTRIBUTE)
    sure = (one.row for one in live if one.row.kind in kinds and not (one.changed or one.working))
    return in_order(row for row in sure if row.key is not None and not row.suspect and row.rests_on is None)


def nodes(rows: Sequence[RecordRow]) -> dict[str, list[Node]]:
    """Return the keys of each owner, in order: a named thing or attribute is one, any other statement one by itself."""
    grouped: dict[Hashable, list[RecordRow]] = defaultdict(list)
    for row in rows:
        grouped[_key(row)].append(row)
    people = _people(rows)
    telling = _telling(rows, people)
    found: dict[str, list[Node]] = defaultdict(list)
    for members in grouped.values():
        owner = members[0].owner or ""
        stems = frozenset(stem for row in members for stem in _stems(row) if stem in telling[owner])
        found[owner].append(Node(owner, tuple(members), stems))
    return {owner: _newest(found[owner]) for owner in sorted(found)}


def _newest(found: list[Node]) -> list[Node]:
    return sorted(found, key=lambda node: place(node.rows[0]))[-MOST_NODES:]


def _key(row: RecordRow) -> Hashable:
    owner, subject, attribute = about(row)
    named = None if subject is None or subject.startswith(BRANCH) else subject
    return (owner, named, attribute) if named or attribute else (owner, row.id)


def _telling(rows: Iterable[RecordRow], people: frozenset[str]) -> dict[str, set[str]]:
    """Return the words of each owner that tell themes apart: what most statements have does not, nor do names.

    ``people`` are the words of the names of those who take part: whom somebody speaks to is no theme.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    sizes: Counter[str] = Counter()
    for row in rows:
        owner = row.owner or ""
        sizes[owner] += 1
        counts[owner].update(set(_stems(row)) - people)
    return {
        owner: {stem for stem, times in words.items() if times <= max(_LEAST_OFTEN, _OFTEN * sizes[owner] // 1000)}
        for owner, words in counts.items()
    }


def _stems(row: RecordRow) -> list[str]:
    """Return the words of a statement that may name a theme: not how it is meant, nor how it feels."""
    spared = (term for term in terms(row.text) if not term.is_number and not _is_light(term.text))
    return [stem for term in spared for stem in content_tokens(term.text) if len(stem) > 1]


def _people(rows: Iterable[RecordRow]) -> frozenset[str]:
    names = {name for row in rows for name in (row.owner or "", row.speaker.label if row.speaker is not None else "")}
    return frozenset(stem for name in names for stem in content_tokens(name))


def _is_light(word: str) -> bool:
    return word in _LIGHT or feels(word)


def surface(rows: Iterable[RecordRow], stem: str) -> str:
    """Return a stem as it is mostly written."""
    words = (term.text for row in rows for term in terms(row.text) if stem in content_tokens(term.text))
    counted = Counter(words)
    return min(counted, key=lambda word: (-counted[word], word)).removesuffix("'s") if counted else stem


def thing_liked(rows: Sequence[RecordRow], said: Iterable[RecordRow]) -> str | None:
    """Return what preferences are said of, as it is written, if all of ``rows`` speak of it; most often said first."""
    counted = Counter(slot.value for row in said for slot in row.slots if slot.name == OBJECT_SLOT)
    common = frozenset.intersection(*(frozenset(_stems(row)) for row in rows))
    ranked = sorted(counted, key=lambda value: (-counted[value], value))
    shared = ([stem for stem in content_tokens(value) if stem in common] for value in ranked)
    value, own = next(((value, own) for value, own in zip(ranked, shared, strict=True) if own), ("", []))
    stems = content_tokens(value)
    return " ".join(surface(rows, stem) for stem in (stems if len(stems) <= _SHORT else own)) or None
