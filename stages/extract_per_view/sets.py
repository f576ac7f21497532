"""Which views are active, and how a view reads as an instruction."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from schemas.view import View, ViewSet
from stages.extract_per_view.learning import Learning
from stages.extract_per_view.views import GENERAL, OTHER, VIEWS
from stages.extract_per_view.wording import worded
from stages.stored import clip, size

SIZE: Final = 10
"""K: views of a set, the catch-all among them (AutoViewMem 3.1)."""

NAME_BYTES: Final = 60
TEMPLATE_BYTES: Final = 240
SLOTS_BYTES: Final = 100

CATCH_ALL: Final = next(view for view in VIEWS if view.id == OTHER)


class Choice(StrEnum):
    """How a space comes by its views. The last two are ablations (AutoViewMem 4.3)."""

    AUTO = "auto"
    SINGLE = "single"
    RANDOM = "random"


_SINGLE: Final = ViewSet(version=1, since=0, views=(CATCH_ALL,))


def active(learning: Learning, choice: Choice) -> ViewSet:
    """Return the views under which the next event is read."""
    return _SINGLE if choice is Choice.SINGLE else learning.active or GENERAL


def bounded(view: View) -> View:
    """Return a view that a model worded within the bytes that the state has for it: sets and candidates stay there."""
    room, slots = SLOTS_BYTES, list[str]()
    for slot in dict.fromkeys(map(worded, view.slots)):
        room -= size(slot)
        if slot and room >= 0:
            slots.append(slot)
    name, template = worded(view.name), worded(view.template)
    changed = {"name": clip(name, NAME_BYTES), "template": clip(template, TEMPLATE_BYTES), "slots": tuple(slots)}
    return view.model_copy(update=changed)


def instruction(view: View) -> str:
    """Return a view as one text: what is compared, embedded, and kept as its record's text."""
    return f"{view.name}: {view.template}"


def canonical(view: View) -> str:
    """Return an instruction such that exact duplicates are equal, whatever their case and spacing."""
    return " ".join(instruction(view).casefold().split())
