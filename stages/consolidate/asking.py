"""What a model is asked of a cluster of near statements, and what of its answer stands (AutoViewMem 3.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field, StringConstraints

from schemas.base import Model
from schemas.space import Space
from stages.consolidate.conflicts import apart
from stages.consolidate.grounded import ungrounded
from stages.consolidate.limits import MOST
from stages.consolidate.terms import terms
from stages.consolidate.units import BRANCH, Unit, about, forbidden
from stages.ports import Request
from stages.prompts import as_data, load_prompt
from stages.stored import clip

_TEXT: Final = 600
"""Bytes of a statement that are shown; with one that is longer nothing is put together by a model."""


class Case(StrEnum):
    """How near statements stand to each other."""

    CONTAINMENT = "containment"
    COMPLEMENTARITY = "complementarity"
    INDEPENDENCE = "independence"


class Together(Model):
    """Statements by their numbers that are one, and the statement that takes their place."""

    case: Case
    members: Annotated[tuple[int, ...], Field(max_length=MOST)]
    text: Annotated[str, StringConstraints(max_length=1200)]


class Answer(Model):
    """What is to be put together; all others stay as they are."""

    groups: Annotated[tuple[Together, ...], Field(max_length=MOST)]


MERGE: Final = load_prompt("stages.consolidate", "merge", 1, Answer, longest=1500)


@dataclass(frozen=True, slots=True)
class Sheet:
    """What a request shows: the units of a cluster, numbered from 1."""

    units: Sequence[Unit]

    def request(self, space: Space) -> Request[Answer]:
        """Return what is asked."""
        shown = [_entry(number, unit) for number, unit in enumerate(self.units, 1)]
        return Request(space=space, prompt=MERGE, data=as_data({"statements": shown}), check=self.complaint)

    def complaint(self, answer: Answer) -> str | None:
        """Say what is wrong with an answer of the right shape: the numbers, or that none of its groups can stand."""
        fault = next(self._faults(answer), None)
        if fault is not None:
            return fault
        wanted = [one for one in answer.groups if _merges(one)]
        refusals = [self.refusal(one) for one in wanted]
        return refusals[0] if wanted and all(refusals) else None

    def _faults(self, answer: Answer) -> Iterator[str]:
        seen = set[int]()
        for one in answer.groups:
            for number in one.members:
                if not 1 <= number <= len(self.units):
                    yield f"{number} is not the id of a statement."
                if number in seen:
                    yield f"{number} stands in two groups, or twice in one."
                seen.add(number)

    def refusal(self, one: Together) -> str | None:
        """Return why a group can't stand, ``None`` if it can."""
        units = self.of(one)
        if any(len(unit.text.encode()) > _TEXT for unit in units):
            return "a statement that is shown in part only can't be put together with another"
        pairs = ((left, right) for at, left in enumerate(units) for right in units[at + 1 :])
        kept_apart = next((reason for left, right in pairs if (reason := reason_apart(left, right))), None)
        return kept_apart or ungrounded(one.text, [unit.text for unit in units])

    def of(self, one: Together) -> list[Unit]:
        """Return the units of a group."""
        return [self.units[number - 1] for number in one.members]

    def standing(self, answer: Answer) -> Iterator[tuple[Together, str | None]]:
        """Yield the groups that put something together, each with why it is refused, if it is."""
        yield from ((one, self.refusal(one)) for one in answer.groups if _merges(one))


def _merges(one: Together) -> bool:
    return one.case is not Case.INDEPENDENCE and len(one.members) > 1


def reason_apart(left: Unit, right: Unit) -> str | None:
    """Return why two units of one group stay apart whatever a model says, ``None`` if they may be one."""
    return forbidden(left, right) or apart(left.terms, right.terms, _named(left))


def _named(unit: Unit) -> set[str]:
    """Return the words of whom and what a unit is about; a thread is no thing that words name."""
    owner, subject, _attribute = about(unit.kept)
    thing = "" if subject is None or subject.startswith(BRANCH) else subject
    label = unit.kept.speaker.label if unit.kept.speaker is not None else ""
    found = {term.text.removesuffix("'s") for name in (owner, thing, label) for term in terms(name or "")}
    return found | {f"{word}'s" for word in found}


def _entry(number: int, unit: Unit) -> dict[str, object]:
    return {"id": number, "text": clip(unit.text, _TEXT), "said": unit.rows[0].at.date().isoformat()}
