"""ADD, UPDATE or IGNORE: an item against an older one on the same key (AdaMem 3.2; the rules are ours).

Retirement is rare on purpose (fault 18): the same key, a contradiction that can be named, and overlapping time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from schemas.extracted import PREFERENCE_PREFIX
from schemas.normalized import Attitude
from stages.route.evidence import Evidence
from stages.text.similarity import dot, overlap, permille
from stages.text.tokens import content_tokens, tokens

_FOREVER = 2**53
"""Unix seconds after any time: what lasts has no end yet."""

_DELAY = 62 * 24 * 3600
"""Seconds by which a change may be told late: "last month" reaches back up to two."""

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


@dataclass(frozen=True, slots=True)
class Bands:
    """Closeness in thousandths from which two items on one key say the same, or speak of the same thing."""

    equal: int
    related: int


DENSE = {"all-MiniLM-L6-v2": Bands(equal=900, related=700)}
"""Bands of cosine by encoder. Of our own pairs (tests/data/item_pairs.jsonl) all paraphrases reach 929, contradictions
lie between 744 and 847, and no mere neighbour on the same key reaches 611."""

DEFAULT_DENSE = Bands(equal=950, related=850)
"""For encoders that nobody calibrated: high, since many put every pair above 700; too high only means fewer updates."""

LEXICAL = Bands(equal=800, related=450)
"""Bands of word overlap, for items whose vector is no longer in state: of the same pairs half of the paraphrases reach
800, four contradictions of six 450, and no neighbour more than 400."""

SHARED = 250
"""Word overlap that a contradiction needs whatever the cosine: long sentences on one theme are close without being
about one thing. All contradictions of our pairs reach 285."""


class Action(StrEnum):
    """What a router predicts for an item and an existing one; no verdict is ADD."""

    UPDATE = "update"
    IGNORE = "ignore"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The action, with the reason that is recorded."""

    action: Action
    reason: str


def bands_of(model: str) -> Bands:
    """Return the bands calibrated for an encoder."""
    return next((bands for name, bands in DENSE.items() if name in model), DEFAULT_DENSE)


def comparable(new: Evidence, old: Evidence) -> bool:
    """Tell whether what is known of both is enough for ``judge``; of recent items only memory knows everything."""
    if (new.value is not None and old.value is not None) or (new.text and old.text):
        return True
    return new.key.attribute.startswith(PREFERENCE_PREFIX) and new.object is not None and old.object is not None


def judge(new: Evidence, old: Evidence, bands: Bands) -> Verdict | None:
    """Return what ``new`` does to the older ``old``, or ``None`` if nothing.

    Items of one turn, of different keys, or suspect ones do nothing to each other.
    """
    if new.order <= old.order or new.about != old.about or new.suspect or old.suspect:
        return None
    if new.value is not None and old.value is not None:
        return _valued(new, old)
    if new.key.attribute.startswith(PREFERENCE_PREFIX) and new.object is not None and old.object is not None:
        return _liked(new, old)
    return _worded(new, old, bands)


def _valued(new: Evidence, old: Evidence) -> Verdict | None:
    """Compare two values of an attribute that has one at a time."""
    same = _same_value(new.value or "", old.value or "")
    if same and new.negated == old.negated:
        return Verdict(Action.IGNORE, f"says again: {old.value}") if not are_apart(new, old) else None
    contradicts = same or not (new.negated or old.negated)
    if not contradicts or not takes_over(new, old):
        return None
    negation = "not " if new.negated else ""
    return Verdict(Action.UPDATE, f"{new.key.attribute}: {old.value} -> {negation}{new.value}")


def _liked(new: Evidence, old: Evidence) -> Verdict | None:
    """Compare how one person feels about one thing; "thai food" and "italian food" are two things."""
    if not _same_value(new.object or "", old.object or ""):
        return None
    if new.attitude is old.attitude:
        return Verdict(Action.IGNORE, f"says again: {old.attitude.value} about {old.object}")
    opposed = {new.attitude, old.attitude} == {Attitude.POSITIVE, Attitude.NEGATIVE}
    if not opposed or not takes_over(new, old):
        return None
    return Verdict(Action.UPDATE, f"{new.key.attribute}: {old.attitude.value} -> {new.attitude.value}")


def _same_value(new: str, old: str) -> bool:
    """Tell whether one value is the other, or the other with more words ("nurse", "nurse at the city hospital")."""
    a, b = set(tokens(new)), set(tokens(old))
    return a <= b or b <= a


def _worded(new: Evidence, old: Evidence, bands: Bands) -> Verdict | None:
    near, limits = closeness(new, old, bands)
    shared = overlap(content_tokens(new.text), content_tokens(old.text)) >= SHARED
    reason = _contradiction(new, old) if near >= limits.related and shared else None
    if reason is not None:
        return Verdict(Action.UPDATE, reason) if takes_over(new, old) else None
    if near >= limits.equal and _same_details(new, old):
        return Verdict(Action.IGNORE, f"says again (closeness {near})")
    return None


def _contradiction(new: Evidence, old: Evidence) -> str | None:
    if new.negated != old.negated:
        return "now denied" if new.negated else "no longer denied"
    return "says that it changed" if new.changes and not _same_details(new, old) else None


def closeness(new: Evidence, old: Evidence, bands: Bands) -> tuple[int, Bands]:
    """Return how close two items are, in thousandths, and the bands of that measure.

    Cosine where both vectors are at hand, else the overlap of their content words.
    """
    if new.vector is not None and old.vector is not None and len(new.vector) == len(old.vector):
        return permille(dot(new.vector, old.vector)), bands
    return overlap(content_tokens(new.text), content_tokens(old.text)), LEXICAL


def _same_details(new: Evidence, old: Evidence) -> bool:
    """Tell whether two statements agree in polarity, date and numbers: other details are another fact."""
    dates = new.start is None or (new.start, new.end) == (old.start, old.end)
    numbers = set(_NUMBER.findall(new.text)) <= set(_NUMBER.findall(old.text))
    return dates and numbers and new.negated == old.negated and new.attitude == old.attitude


def are_apart(new: Evidence, old: Evidence) -> bool:
    """Tell whether both name times that do not meet: two visits to one city are two facts."""
    if new.start is None or new.end is None or old.start is None or old.end is None:
        return False
    return new.end <= old.start or old.end <= new.start


def takes_over(new: Evidence, old: Evidence) -> bool:
    """Tell whether ``new`` holds at a time at which ``old`` would still hold, and began no earlier.

    A change is told some time after it happened: "I moved last month" contradicts what was said two weeks ago.
    """
    begun = _begin(new) + (_DELAY if new.changes else 0)
    return begun >= _begin(old) and _begin(new) < _end(old)


def _begin(one: Evidence) -> int:
    return one.at if one.start is None else one.start


def _end(one: Evidence) -> int:
    """Return when a statement ceases to hold: a state lasts on, an event ends with its time."""
    lasting = one.value is not None or one.end is None or one.key.attribute.startswith(PREFERENCE_PREFIX)
    return _FOREVER if lasting or one.end is None else one.end
