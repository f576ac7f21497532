"""Topic memories: what one person said on one theme, in one record (AdaMem B.4, E.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from schemas.extracted import Key
from schemas.memory import RecordContent, RecordKind, RecordRow
from stages.consolidate.contents import in_order, said_at
from stages.consolidate.nodes import Node, surface
from stages.consolidate.terms import terms

TOPIC: Final = "topic memory:"
"""How the attribute of a topic memory begins; ``route``'s own topics, which are names, begin with "topic:"."""

MOST_TEXT: Final = 600
"""Characters of a topic's or persona's text: a bundle has room for several."""

MOST_ROWS: Final = 60
"""Records that one rests on, the newest: with those that it takes the place of no more than a decision may name."""

_WORDS: Final = 3
_NAME: Final = 48


@dataclass(frozen=True, slots=True)
class Theme:
    """What one owner said on one theme, in order. ``text`` is a model's, else it is made of the statements."""

    owner: str
    name: str
    rows: tuple[RecordRow, ...]
    text: str | None = None

    @property
    def label(self) -> str:
        """The owner's name, as far as a record of their own tells it."""
        return label_of(self.owner, self.rows)


def label_of(owner: str, rows: Iterable[RecordRow]) -> str:
    """Return the name of an owner: that of a speaker of this id, else the id."""
    speakers = (row.speaker for row in rows if row.speaker is not None)
    return next((speaker.label for speaker in speakers if speaker.id == owner), owner)


def theme_of(members: Sequence[Node]) -> Theme | None:
    """Return the theme of keys that rules put together; ``None`` if only one turn speaks of it, or no word names it."""
    rows = tuple(in_order(row for node in members for row in node.rows)[-MOST_ROWS:])
    common = frozenset.intersection(*(node.stems for node in members))
    name = _name(rows, common, [stem for node in members for stem in sorted(node.stems)])
    return Theme(members[0].owner, name, rows) if name and distinct(rows) else None


def distinct(rows: Iterable[RecordRow], least: int = 2) -> bool:
    """Tell whether a theme was spoken of in several turns: what was said once is an item, and found as such."""
    return len({row.provenance[0] for row in rows}) >= least


def _name(rows: Sequence[RecordRow], common: frozenset[str], stems: Sequence[str]) -> str:
    """Return the words of a theme: those that all of its keys have, most often said first."""
    counted = Counter(stems)
    ranked = sorted(common, key=lambda stem: (-counted[stem], stem))
    return " ".join(surface(rows, stem) for stem in ranked[:_WORDS])[:_NAME].strip()


def apart_by_name(themes: Iterable[Theme]) -> list[Theme]:
    """Return themes with names that nobody else of the owner's has, in order."""
    taken = set[tuple[str, str]]()
    made: list[Theme] = []
    for theme in themes:
        number = 1
        name = theme.name
        while (theme.owner, name) in taken:
            number += 1
            name = f"{theme.name} ({number})"
        taken.add((theme.owner, name))
        made.append(replace(theme, name=name))
    return made


def topic_record(theme: Theme) -> RecordContent:
    """Return the topic memory of a theme."""
    head = f"{theme.label} \u2014 {theme.name}: "
    text = theme.text if theme.text is not None else stated(theme.rows, MOST_TEXT - len(head))
    return derived(RecordKind.TOPIC, theme.owner, f"{TOPIC}{theme.name}", f"{head}{text}", theme.rows)


def derived(kind: RecordKind, owner: str, attribute: str, text: str, rows: Sequence[RecordRow]) -> RecordContent:
    """Return a record that sums others up: it rests on the turns of all of them, and takes the place of none."""
    branches = {row.branch for row in rows}
    return RecordContent(
        kind=kind,
        text=text,
        owner=owner,
        speaker=None,
        at=rows[0].at,
        key=Key(owner=owner, subject=None, attribute=attribute),
        provenance=tuple(dict.fromkeys(turn for row in rows for turn in row.provenance)),
        branch=branches.pop() if len(branches) == 1 else None,
        degraded=any(row.degraded for row in rows),
        said_at=said_at(rows[0]),
    )


def stated(rows: Sequence[RecordRow], room: int) -> str:
    """Return the distinct statements with the days on which they were said, the newest as long as there is room."""
    texts: dict[tuple[str, ...], str] = {}
    for row in reversed(rows):
        texts.setdefault(tuple(term.text for term in terms(row.text)), f"{row.text} [{row.at.date().isoformat()}]")
    shown: list[str] = []
    for text in texts.values():
        if room < len(text) and shown:
            break
        shown.insert(0, text if len(text) <= room else f"{text[: max(room - 1, 0)]}\u2026")
        room -= len(text) + 1
    return " ".join(shown)
