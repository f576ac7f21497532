"""What a language model's rulings may do to memory: no more than the rules themselves could (fault 18)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from schemas.extracted import PREFERENCE_PREFIX
from stages.ports import LanguageModel
from stages.route.asking import Action, Answer, Ruling, Sheet
from stages.route.evidence import Evidence
from stages.route.nearest import compared, is_keyed
from stages.route.routers import MAX_RETIRED, Changes, route
from stages.route.rules import Bands, are_apart, takes_over
from stages.route.targets import Due, Reader

_BRANCH = "branch:"
"""How the subject of an item begins that names none: a conversation is no one thing."""


class Judged(NamedTuple):
    """Whether the rules stood in for an answer of no use, and how many rulings were refused, which then add."""

    degraded: bool = False
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges what is due at one event; what it decides is added to ``changes``. ``bands`` are the rules'."""

    language: LanguageModel
    reader: Reader
    bands: Bands
    changes: Changes

    async def judge(self, due: Due, gone: Collection[str]) -> Judged:
        """Let the model judge what is due, in one request; what does not fit, and a useless answer, go by rules.

        Where there is nothing to compare with, it is not asked. ``gone`` are records that this event withdraws.

        Raises:
            Unavailable: if the model or the index does not answer.
        """
        sheet = Sheet(await compared(self.reader, due, {*gone, *self.changes.retired()}))
        answer = await self.language.ask(sheet.request(self.reader.space)) if sheet.compared else None
        refused = follow(answer, sheet, self.changes) if answer is not None else 0
        rest = [one for one in due.items if answer is None or one.id not in sheet.new]
        route(rest, due.candidates, self.bands, self.changes)
        return Judged(degraded=answer is None and bool(sheet.compared), refused=refused)


def follow(answer: Answer, sheet: Sheet, changes: Changes) -> int:
    """Add to ``changes`` what the rulings ask for, as far as they may; return how many were refused."""
    refused = 0
    for kind in sheet.kinds:
        section = sheet.section(kind)
        for ruling in sorted(answer.of(kind), key=lambda one: one.item):
            item, target = section[ruling.item], section.get(ruling.target)
            if ruling.action is Action.ADD or target is None or item.id in changes.retired():
                continue
            allowed = _may(ruling.action, item, target, changes)
            refused += not allowed
            if allowed:
                _do(ruling, item, target, changes)
    return refused


def _may(action: Action, new: Evidence, old: Evidence, changes: Changes) -> bool:
    if old.id in changes.retired() or not (_one_thing(new, old) and _sure(new) and _sure(old)):
        return False
    if action is Action.IGNORE:
        return not are_apart(new, old)
    kept = new.about == old.about or (action is Action.CHANGE and _is_plain(new) and _is_plain(old))
    return kept and takes_over(new, old) and len(changes.retired()) < MAX_RETIRED


def _is_plain(one: Evidence) -> bool:
    """Tell whether an item is about a named thing, by no attribute that rules know.

    Only such items change each other across attributes: "I love Oslo" says nothing against "I live in Oslo", and where
    a persona or a whole branch is spoken of, two attributes are two things.
    """
    subject = one.key.subject
    known = one.value is not None or one.key.attribute.startswith(PREFERENCE_PREFIX)
    return subject is not None and not subject.startswith(_BRANCH) and not known


def _one_thing(new: Evidence, old: Evidence) -> bool:
    """Tell whether two items are of one owner, kind and subject, as their keys have it, and the old one is older."""
    same = (new.kind, new.key.owner, new.key.subject) == (old.kind, old.key.owner, old.key.subject)
    return old.order < new.order and (new.about == old.about or (same and is_keyed(new) and is_keyed(old)))


def _sure(one: Evidence) -> bool:
    """Tell whether an item may supersede or be superseded: not what is suspect, or only suggested by history."""
    return not (one.suspect or one.tentative)


def _do(ruling: Ruling, new: Evidence, old: Evidence, changes: Changes) -> None:
    reason = _printable(ruling.reason) or f"{new.key.attribute}: {ruling.action.value}"
    match ruling.action:
        case Action.CHANGE:
            changes.change(new, old, reason)
        case Action.CORRECTION:
            changes.correct(new, old, reason)
        case Action.IGNORE | Action.ADD:
            changes.support(new, old)


def _printable(reason: str) -> str:
    return "".join(char for char in " ".join(reason.split()) if char.isprintable())
