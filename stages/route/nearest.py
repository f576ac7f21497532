"""What a language model is shown beside an item: the older ones nearest to it, of the same owner, kind and subject.

The rules compare on the very same key; a model may also see that "the bike" and "the blue racer" are one thing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from schemas.extracted import ItemKind
from stages.ports import Filter, Found
from stages.route.evidence import RECORDS, Evidence, of_found
from stages.route.ids import about_of
from stages.route.kept import kind_of
from stages.route.targets import Due, Reader
from stages.text.similarity import overlap
from stages.text.tokens import content_tokens

MOST_ITEMS = 24
"""Items that one request judges; those beyond go by rules: a segment of five messages seldom has ten."""

MOST_KNOWN = 5
"""Older items shown for one item."""

MOST_SHOWN = 40
"""Older items in a request."""

_READ = 2 * MOST_KNOWN
"""Items read for one: some of them are closed by now, or have another subject."""

_Group = tuple[ItemKind, str, str | None]


@dataclass(frozen=True, slots=True)
class Compared:
    """An item and the older ones that it may change, best first; never none."""

    item: Evidence
    known: tuple[Evidence, ...]


def is_keyed(one: Evidence) -> bool:
    """Tell whether owner, subject and attribute are all known: of recent items the state may keep a digest only."""
    return about_of(one.kind, one.key) == one.about


def wording(one: Evidence) -> str:
    """Return what an item says; of recent ones with a value the state keeps the value and no text."""
    if one.text:
        return one.text
    marks = f"{'now ' if one.changes else ''}{'not ' if one.negated else ''}"
    felt = f" ({one.attitude.value})" if one.object and not one.value else ""
    return f"{one.key.attribute}: {marks}{one.value or one.object or ''}{felt}"


async def compared(reader: Reader, due: Due, gone: Collection[str]) -> list[Compared]:
    """Return the items that there is something to compare with, within the bounds of a request; ``gone`` are left out.

    Raises:
        Unavailable: if the index does not answer.
    """
    items = due.items[:MOST_ITEMS]
    stored = await _stored(reader, [one for one in items if is_keyed(one)])
    found, shown = list[Compared](), set[str]()
    for item in items:
        same = [_owned(one, item) for one in due.candidates.get(item.about, ())]
        near = reader.open([*stored.get(_group(item), ()), *_recent(reader, item)])
        known = _best(item, (one for one in (*same, *near) if one.id not in gone))
        if known and len(shown | {one.id for one in known}) <= MOST_SHOWN:
            shown |= {one.id for one in known}
            found.append(Compared(item, known))
    return found


def _group(item: Evidence) -> _Group:
    return item.kind, item.key.owner, item.key.subject


def _owned(one: Evidence, item: Evidence) -> Evidence:
    """Return an item on the key of another with the whole of that key."""
    return replace(one, key=item.key) if one.about == item.about else one


def _best(item: Evidence, known: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Return the nearest: those on the same key first, then by the words that they share."""
    words = content_tokens(wording(item))
    distinct = {one.id: one for one in known if one.position < item.position and not (one.suspect or one.tentative)}
    ranked = [
        (one.about != item.about, -overlap(words, content_tokens(wording(one))), -one.position, one.id)
        for one in distinct.values()
    ]
    return tuple(distinct[name] for *_rank, name in sorted(ranked)[:MOST_KNOWN])


async def _stored(reader: Reader, items: Sequence[Evidence]) -> dict[_Group, list[Evidence]]:
    """Return what memory has near these items, by group."""
    groups: dict[_Group, list[Evidence]] = defaultdict(list)
    for item in items if reader.as_of >= 0 else ():
        groups[_group(item)].append(item)
    return {group: _of_group(await _near(reader, group, members), group) for group, members in groups.items()}


async def _near(reader: Reader, group: _Group, members: Sequence[Evidence]) -> list[Found]:
    kind, owner, subject = group
    where = Filter(
        reader.space, reader.as_of, frozenset({RECORDS[kind]}), owners=frozenset({owner}), key_subject=subject
    )
    vectors = [one.vector for one in members if one.vector is not None]
    words = [content_tokens(wording(one)) for one in members if one.vector is None]
    runs = await reader.history.nearest(where, vectors, _READ) if vectors else []
    runs += await reader.history.lexical(where, words, _READ) if words else []
    return [found for run in runs for found in run]


def _of_group(found: Iterable[Found], group: _Group) -> list[Evidence]:
    ones = (of_found(one) for one in found)
    return [one for one in ones if one is not None and _group(one) == group]


def _recent(reader: Reader, item: Evidence) -> list[Evidence]:
    """Return the recent items of the group of ``item`` that share a word with it and are known well enough."""
    if not is_keyed(item):
        return []
    rows = [
        (known, row)
        for known, row in reader.rows
        if row.attribute and kind_of(row) is item.kind and (row.subject or None) == item.key.subject
    ]
    words = content_tokens(wording(item))
    made = [
        (position, one)
        for position, one in reader.made
        if one.row.attribute and kind_of(one.row) is item.kind and (one.row.subject or None) == item.key.subject
    ]
    found = [*reader.recent(rows, item.key.owner), *reader.recently_made(made, item.key.owner)]
    return [one for one in found if is_keyed(one) and overlap(words, content_tokens(wording(one)))]
