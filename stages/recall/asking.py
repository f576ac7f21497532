"""Who and when a question is about: the asker, the people it names, the times it speaks of (AdaMem 3.3)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from schemas.memory import RecordRow
from schemas.turn import Role, Speaker
from stages.text.tokens import content_tokens, words

_ASKER = frozenset("i me my mine myself i'm i've i'd i'll".split())
"""Words by which askers mean themselves. "We" and "our" may be anybody's."""

_ADDRESSED = frozenset("you your yours yourself you're you've you'd you'll".split())
"""Words by which whoever is asked is meant: the agents, if a person asks."""

_CALLED = re.compile(r"(?<!^)\b[^\W\d_][\w'-]{2,}")
"""A word that may be a short form of a name ("Mel" for Melanie): three letters or more, not the first of the text."""

_SHORT = 3
"""Letters from which the beginning of a name is taken for the name."""


@dataclass(frozen=True, slots=True)
class Named:
    """The ids of those that a question is about; ``meant`` is empty where these are all: then they tell nothing apart.

    All of them is the paper's case "both".
    """

    all: tuple[str, ...]
    meant: frozenset[str]


@dataclass(frozen=True, slots=True)
class People:
    """The participants seen among the candidates: id to speaker."""

    speakers: Mapping[str, Speaker]

    @classmethod
    def of(cls, records: Iterable[RecordRow]) -> People:
        """Collect the speakers of records, in their order."""
        return cls({record.speaker.id: record.speaker for record in records if record.speaker is not None})

    def named(self, question: str, asker: str | None) -> Named:
        """Return those that ``question`` is about. Explicit mention only; several may be meant."""
        named = frozenset(self._named(question) | self._pointed(question, asker))
        return Named(tuple(sorted(named)), named if len(named) < len(self.speakers) else frozenset())

    def meant(self, question: str, asker: str | None) -> frozenset[str]:
        """Return the ids of those whose words a question prefers (see ``Named``)."""
        return self.named(question, asker).meant

    def _named(self, question: str) -> set[str]:
        asked = words(question)
        full = {key for key, speaker in self.speakers.items() if _calls(question, speaker.label) or _says(asked, key)}
        return full | self._by_part(question, asked, full)

    def _by_part(self, question: str, asked: Collection[str], full: Collection[str]) -> set[str]:
        """Return those called by their first name or the beginning of it, where it is theirs alone."""
        short = {word.casefold() for word in _CALLED.findall(question) if word[0].isupper() and content_tokens(word)}
        firsts = {key: "".join(words(speaker.label)[:1]) for key, speaker in self.speakers.items()}
        found: set[str] = set()
        for word in short | {first for first in firsts.values() if first in asked and content_tokens(first)}:
            owners = {key for key, first in firsts.items() if first.startswith(word)}
            if len(owners) == 1 and len(word) >= _SHORT:
                found |= owners
        return found - set(full)

    def _pointed(self, question: str, asker: str | None) -> set[str]:
        asked = set(words(question))
        me = self._asking(asker)
        agents = {key for key, speaker in self.speakers.items() if speaker.role is Role.AGENT}
        others = agents if me is None or me not in agents else set(self.speakers) - agents
        return ({me} if me is not None and asked & _ASKER else set()) | (others if asked & _ADDRESSED else set())

    def _asking(self, asker: str | None) -> str | None:
        """Return who asks: as told, else the only person in the space."""
        if asker is not None:
            return next((key for key, speaker in self.speakers.items() if asker in {key, speaker.label}), asker)
        persons = [key for key, speaker in self.speakers.items() if speaker.role is Role.USER]
        return persons[0] if len(persons) == 1 else None


def speaks_of_self(question: str) -> bool:
    """Tell whether the asker is part of what is asked ("my sister")."""
    return not _ASKER.isdisjoint(words(question))


def _calls(question: str, name: str) -> bool:
    """Tell whether ``question`` names ``name``; one that is also a function word ("Will") must be written as a name."""
    plain = content_tokens(name) or not words(name)
    return _says(words(question), name) if plain else name in _CALLED.findall(question)


def _says(asked: list[str], name: str) -> bool:
    """Tell whether the words of ``name`` stand in a row in ``asked``."""
    wanted = words(name)
    runs = range(len(asked) - len(wanted) + 1)
    return bool(wanted) and any(asked[start : start + len(wanted)] == wanted for start in runs)
