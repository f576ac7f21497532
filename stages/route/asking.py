"""The three routers by a language model: one request, three independent sections (AdaMem 3.2, E.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from typing import Annotated

from pydantic import Field, StringConstraints

from schemas.base import Model
from schemas.extracted import ItemKind
from schemas.space import Space
from stages.ports import Request
from stages.prompts import as_data, load_prompt
from stages.route.evidence import Evidence
from stages.route.nearest import MOST_ITEMS, Compared, wording
from stages.stored import clip

_TEXT, _OWNER = 240, 40
"""Bytes of a text and of an owner's id that are shown."""

_NOON = 12 * 3600
"""Seconds from the begin of a day to where it is the same date in nearly all zones."""

_EARLIEST, _LATEST = -62_135_596_800, 253_402_300_799
"""Unix seconds of the first and the last moment that a date can name."""


class Action(StrEnum):
    """What a new item does: UPDATE is ``change`` or ``correction``."""

    ADD = "add"
    CHANGE = "change"
    CORRECTION = "correction"
    IGNORE = "ignore"


class Ruling(Model):
    """The action of one item; ``target`` is 0 where it adds."""

    item: int
    action: Action
    target: int
    reason: Annotated[str, StringConstraints(max_length=240)]


Rulings = Annotated[tuple[Ruling, ...], Field(max_length=MOST_ITEMS)]


class Answer(Model):
    """Rulings by section; an item that has none adds."""

    event: Rulings
    fact: Rulings
    attribute: Rulings

    def of(self, kind: ItemKind) -> tuple[Ruling, ...]:
        """Return the rulings of a section."""
        return {ItemKind.EVENT: self.event, ItemKind.FACT: self.fact, ItemKind.ATTRIBUTE: self.attribute}[kind]


ROUTE = load_prompt("stages.route", "route", 1, Answer, longest=1500)


@dataclass(frozen=True)  # no slots: what is asked for repeatedly is kept
class Sheet:
    """What a request shows: items with what they are compared with, numbered from 1 by section, older ones first."""

    compared: Sequence[Compared]

    @cached_property
    def new(self) -> dict[str, Evidence]:
        """The items to be judged, by id."""
        return {one.item.id: one.item for one in self.compared}

    @cached_property
    def numbered(self) -> dict[int, Evidence]:
        """All items by their numbers."""
        known = {one.id: one for pair in self.compared for one in pair.known if one.id not in self.new}
        order = [one for kind in ItemKind for group in (known, self.new) for one in _sorted(group, kind)]
        return dict(enumerate(order, 1))

    @property
    def kinds(self) -> tuple[ItemKind, ...]:
        """The sections that there are."""
        return tuple(kind for kind in ItemKind if any(one.kind is kind for one in self.new.values()))

    def section(self, kind: ItemKind) -> dict[int, Evidence]:
        """Return the items of a section by their numbers."""
        return {number: one for number, one in self.numbered.items() if one.kind is kind}

    def request(self, space: Space) -> Request[Answer]:
        """Return what is asked."""
        sections = {kind.value: self._shown(kind) for kind in self.kinds}
        return Request(space=space, prompt=ROUTE, data=as_data(sections), check=self.complaint)

    def _shown(self, kind: ItemKind) -> dict[str, list[dict[str, object]]]:
        entries = self.section(kind).items()
        return {
            "known": [_entry(number, one) for number, one in entries if one.id not in self.new],
            "new": [_entry(number, one) for number, one in entries if one.id in self.new],
        }

    def complaint(self, answer: Answer) -> str | None:
        """Say what is wrong with an answer of the right shape."""
        return next((fault for kind in ItemKind for fault in self._faults(kind, answer.of(kind))), None)

    def _faults(self, kind: ItemKind, rulings: Sequence[Ruling]) -> Iterator[str]:
        section = self.section(kind)
        judged = set[int]()
        for one in rulings:
            item, target = section.get(one.item), section.get(one.target)
            if item is None or item.id not in self.new:
                yield f"{kind.value}: {one.item} is not the id of a `new` statement of this section."
            elif one.item in judged:
                yield f"{kind.value}: {one.item} is judged twice."
            elif one.action is not Action.ADD and (target is None or target.order >= item.order):
                yield f"{kind.value}: {one.target} is no statement of this section that was said before {one.item}."
            judged.add(one.item)


def _sorted(group: dict[str, Evidence], kind: ItemKind) -> list[Evidence]:
    return sorted((one for one in group.values() if one.kind is kind), key=lambda one: (one.order, one.id))


def _entry(number: int, one: Evidence) -> dict[str, object]:
    shown: dict[str, object] = {"id": number, "who": clip(one.key.owner, _OWNER), "text": clip(wording(one), _TEXT)}
    return shown | {"said": _day(one.at)} | _days(one)


def _days(one: Evidence) -> dict[str, object]:
    """Return the days of an item's own time, the last one included, as the zone that they were said in has them."""
    if one.start is None or one.end is None:
        return {}
    inside = min(_NOON, (one.end - one.start) // 2)
    first, last = _day(one.start + inside), _day(one.end - inside)
    return {"on": first} if first == last else {"from": first, "until": last}


def _day(seconds: int) -> str:
    return datetime.fromtimestamp(min(max(seconds, _EARLIEST), _LATEST), UTC).date().isoformat()
