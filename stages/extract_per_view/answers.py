"""What a language model is asked in this stage, and the shapes of its answers: small, every array bounded."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field, StringConstraints

from schemas.base import Model
from schemas.view import ItemKind
from stages.prompts import load_prompt

MAX_ITEMS: Final = 12
"""Items of an answer: as many as rules take from a person's turn."""

MAX_PROPOSED: Final = 10
"""Candidate views of a discovery (AutoViewMem 3.1)."""

_PACKAGE: Final = "stages.extract_per_view"
_Word = Annotated[str, StringConstraints(max_length=64)]
_Name = Annotated[str, StringConstraints(min_length=1, max_length=60)]
_Sentence = Annotated[str, StringConstraints(min_length=1, max_length=300)]
_Slots = Annotated[tuple[Annotated[str, StringConstraints(min_length=1, max_length=24)], ...], Field(max_length=6)]
_Numbers = Annotated[tuple[int, ...], Field(max_length=5)]


class Filled(Model):
    """A slot of a view with the value that a turn gives it."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=24)]
    value: Annotated[str, StringConstraints(min_length=1, max_length=120)]


class Said(Model):
    """An item as the model gives it: ``views``, ``turn``, ``owner`` and ``suggested_by`` are numbers in the request."""

    views: Annotated[tuple[int, ...], Field(min_length=1, max_length=10)]
    turn: int
    quote: Annotated[str, StringConstraints(min_length=1, max_length=600)]
    text: Annotated[str, StringConstraints(min_length=1, max_length=400)]
    owner: int
    subject: _Word = ""
    attribute: _Word = ""
    slots: Annotated[tuple[Filled, ...], Field(max_length=6)] = ()
    tentative: bool = False
    suggested_by: _Numbers = ()


class Taken(Model):
    """What the chunks of a request tell."""

    items: Annotated[tuple[Said, ...], Field(max_length=MAX_ITEMS)]


class Proposal(Model):
    """A candidate view; ``chunks`` are the numbers of those that call for it."""

    name: _Name
    kind: ItemKind
    slots: _Slots = ()
    look_for: _Sentence
    chunks: _Numbers = ()


class Proposals(Model):
    """What a discovery proposes."""

    views: Annotated[tuple[Proposal, ...], Field(max_length=MAX_PROPOSED)]


class Canonical(Model):
    """Several candidates in one instruction."""

    name: _Name
    slots: _Slots = ()
    look_for: _Sentence


EXTRACT: Final = load_prompt(_PACKAGE, "extract", 2, Taken, longest=2000)
DISCOVER: Final = load_prompt(_PACKAGE, "discover", 1, Proposals, longest=1500)
CANONICAL: Final = load_prompt(_PACKAGE, "canonical", 1, Canonical, longest=300)
