"""Statements whose attribute is known from their form: home, job, diet, likes (English).

An *aspect* with a value holds one value at a time ("lives in"): another value later is a change. One without
(likes, possessions) may be said of many things.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from schemas.extracted import PREFERENCE_PREFIX
from schemas.normalized import Attitude
from stages.extract_per_view import forms
from stages.extract_per_view.cues import liking, plain
from stages.extract_per_view.phrases import head, object_of, relation, slug, value_of
from stages.extract_per_view.views import HEALTH, IDENTITY, PLACES, PREFERENCES, RELATIONSHIPS, WORK
from stages.text.cued import Cued


@dataclass(frozen=True, slots=True)
class Aspect:
    """A known attribute: the view it belongs to, whom it is said of (``None``: the speaker), its value or object."""

    attribute: str
    view: str
    subject: str | None = None
    value: str | None = None
    object: str | None = None


_DIET = f"{PREFERENCE_PREFIX}diet"

Builder = Callable[[re.Match[str], str], Aspect | None]


def _about(match: re.Match[str]) -> str | None:
    return relation(match.groupdict().get("my"))


def _single(attribute: str, view: str) -> Builder:
    def build(match: re.Match[str], _sentence: str) -> Aspect | None:
        value = value_of(match["value"])
        return Aspect(attribute, view, _about(match), value) if value else None

    return build


def _many(prefix: str, view: str) -> Builder:
    def build(match: re.Match[str], _sentence: str) -> Aspect | None:
        thing = head(match["value"])
        made = Aspect(f"{prefix}:{thing}", view, _about(match), object=object_of(match["value"]))
        return made if thing else None

    return build


def _meat(match: re.Match[str], _sentence: str) -> Aspect:
    return Aspect(_DIET, PREFERENCES, _about(match), "meat")


def _favourite(match: re.Match[str], _sentence: str) -> Aspect | None:
    value = value_of(match["value"])
    return Aspect(f"{PREFERENCE_PREFIX}favourite-{slug(match['what'])}", PREFERENCES, None, value) if value else None


def _taste(match: re.Match[str], sentence: str) -> Aspect | None:
    thing = head(match["value"])
    known = thing and liking(sentence) is not Attitude.NONE
    if not known:
        return None
    return Aspect(f"{PREFERENCE_PREFIX}{thing}", PREFERENCES, _about(match), object=object_of(match["value"]))


_ASPECTS: tuple[tuple[Cued | re.Pattern[str], Builder], ...] = (
    (forms.FORMER_HOME, _many("location:former", PLACES)),
    (forms.HOME, _single("location:home", PLACES)),
    (forms.ORIGIN, _single("identity:origin", IDENTITY)),
    (forms.WORKS_AS, _single("work:job", IDENTITY)),
    (forms.BECAME, _single("work:job", IDENTITY)),
    (forms.JOB_IS, _single("work:job", IDENTITY)),
    (forms.EMPLOYER, _single("work:employer", IDENTITY)),
    (forms.NAME, _single("identity:name", IDENTITY)),
    (forms.BIRTHDAY, _single("identity:birthday", IDENTITY)),
    (forms.STATUS, _single("relationship:status", RELATIONSHIPS)),
    (forms.AGE, _single("identity:age", IDENTITY)),
    (forms.DIET, _single(_DIET, PREFERENCES)),
    (forms.MEAT, _meat),
    (forms.FAVOURITE, _favourite),
    (forms.ALLERGY, _many("health:allergy", HEALTH)),
    (forms.TASTE, _taste),
    (forms.OWNS, _many("possession", PLACES)),
)
"""In order of precedence: the more special form first."""

ALSO = {"work:job": WORK, "work:employer": WORK}
"""A job is part of who someone is, and a work fact as well."""


def aspect(sentence: str) -> Aspect | None:
    """Return the known attribute that a first-person sentence states, or ``None``."""
    text = plain(sentence)
    for pattern, build in _ASPECTS:
        match = pattern.search(text)
        found = build(match, text) if match else None
        if found is not None:
            return found
    return None
