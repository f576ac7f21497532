"""What a model is asked of near keys, and of a persona's statements; what of its answers stands (AdaMem E.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field, StringConstraints

from schemas.base import Model
from schemas.memory import RecordRow
from schemas.space import Space
from stages.consolidate.contents import in_order
from stages.consolidate.grounded import invented
from stages.consolidate.nodes import Node
from stages.consolidate.persona import Side
from stages.consolidate.terms import terms
from stages.consolidate.topics import MOST_ROWS, distinct, stated
from stages.consolidate.vocabulary import ATTITUDE, feels
from stages.ports import Request
from stages.prompts import as_data, load_prompt
from stages.stored import clip

MOST_SHOWN: Final = 20
"""Keys of a request."""

_TEXT: Final = 300
_STATEMENTS: Final = 3000


class Group(Model):
    """Keys by their numbers that are of one theme: its name, and what was said of it."""

    name: Annotated[str, StringConstraints(max_length=48)]
    members: Annotated[tuple[int, ...], Field(max_length=MOST_SHOWN)]
    text: Annotated[str, StringConstraints(max_length=600)]


class Themes(Model):
    """The themes of a request; a key that stands in none has none."""

    groups: Annotated[tuple[Group, ...], Field(max_length=MOST_SHOWN)]


class Portrait(Model):
    """What several statements say of a person."""

    text: Annotated[str, StringConstraints(max_length=600)]


TOPICS: Final = load_prompt("stages.consolidate", "topics", 1, Themes, longest=1500)
PERSONAS: Final = load_prompt("stages.consolidate", "persona", 1, Portrait, longest=300)


@dataclass(frozen=True, slots=True)
class Grouped:
    """A theme that stands; ``text`` is ``None`` where the model's says what nobody said."""

    name: str
    rows: tuple[RecordRow, ...]
    text: str | None


@dataclass(frozen=True, slots=True)
class Grouping:
    """What a request shows: up to ``MOST_SHOWN`` keys of a component, numbered from 1."""

    found: Sequence[Node]

    def request(self, space: Space) -> Request[Themes]:
        """Return what is asked."""
        shown = [{"id": number, "text": clip(node.text, _TEXT)} for number, node in enumerate(self.found, 1)]
        return Request(space=space, prompt=TOPICS, data=as_data({"entries": shown}), check=self.complaint)

    def complaint(self, answer: Themes) -> str | None:
        """Say what is wrong with an answer of the right shape."""
        return next(self._faults(answer), None)

    def _faults(self, answer: Themes) -> Iterator[str]:
        seen = set[int]()
        for one in answer.groups:
            felt = next((term.text for term in terms(one.name) if term.text in ATTITUDE or feels(term.text)), None)
            if felt is not None:
                yield f"the name {one.name!r} says how somebody feels: {felt!r}."
            if not any(term.is_content for term in terms(one.name)):
                yield f"{one.name!r} names nothing."
            for number in one.members:
                if not 1 <= number <= len(self.found):
                    yield f"{number} is not the id of an entry."
                if number in seen:
                    yield f"{number} stands in two groups, or twice in one."
                seen.add(number)

    def standing(self, answer: Themes) -> Iterator[Grouped]:
        """Yield the themes of which several turns speak."""
        for one in answer.groups:
            members = (self.found[number - 1] for number in one.members)
            rows = tuple(in_order(row for node in members for row in node.rows)[-MOST_ROWS:])
            if distinct(rows):
                fault = invented(one.text, [row.text for row in rows])
                yield Grouped(" ".join(one.name.split()), rows, None if fault else " ".join(one.text.split()))


def portrait(space: Space, side: Side) -> tuple[Request[Portrait], Callable[[Portrait], str]]:
    """Return what is asked of a persona's statements, and what makes its text of an answer."""
    said = stated(side.rows, _STATEMENTS)
    sources = [side.head, said]

    def complaint(answer: Portrait) -> str | None:
        return invented(answer.text, sources)

    data = as_data({"about": side.head.strip(" :"), "statements": said})
    request = Request(space=space, prompt=PERSONAS, data=data, check=complaint)
    return request, lambda answer: " ".join(answer.text.split())
