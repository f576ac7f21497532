"""Which views take a sentence: integer cosines of its vector and the views' descriptions."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.extracted import ItemKind
from stages.extract_per_view.aspects import ALSO
from stages.extract_per_view.drafts import Draft
from stages.extract_per_view.statements import is_plan, is_request, of_self
from stages.extract_per_view.views import KINDS, OTHER, PLANS, REQUESTS, VIEWS
from stages.text.similarity import dots, permille

LEVELS = {
    "all-MiniLM-L6-v2": {
        "identity": 71,
        "preferences": 102,
        "relationships": 122,
        "health": 142,
        "places": 91,
        "plans": 85,
        "experiences": 85,
        "work": 59,
        "requests": 29,
    }
}
"""What each view's description has in common with any statement, in thousandths of cosine, by encoder: its mean over
the 56 labelled sentences of tests/data/view_sentences.jsonl. Without it the view of people takes half of all small
talk, since names alone resemble it. An encoder that nobody calibrated has levels of 0."""

FLOOR = 70
"""Thousandths above its level from which a view takes a sentence. On the labelled sentences 70 gives each 1.0 views,
86 % of them right, and the first right one for 82 %; 60 finds 84 % with 86 % right, 100 71 % with 87 %. Of statements
in small talk some 85 % are taken, of those about software some 70 %; the catch-all has the rest."""

DEFAULT_FLOOR = 150
"""The floor for encoders that nobody calibrated: where all cosines are high, as with e5, the margin does the work."""

MARGIN = 20
"""Thousandths within which a further view takes the sentence too: at 40 one tag in four is wrong instead of one in
seven. FLOOR and this one are of all-MiniLM-L6-v2."""

MAX_VIEWS = 3
"""Tags of an item: more say nothing about it."""

_SCORED = tuple(view.id for view in VIEWS if view.id != OTHER)
_TEMPLATES = tuple(view.template for view in VIEWS if view.id != OTHER)


def levels_of(model: str) -> tuple[int, ...]:
    """Return the score that each scored view has to reach, in their order, for an encoder."""
    for name, levels in LEVELS.items():
        if name in model:
            return tuple(levels[view] + FLOOR for view in _SCORED)
    return (DEFAULT_FLOOR,) * len(_SCORED)


def views_of(draft: Draft, vector: bytes, views: Sequence[bytes], levels: Sequence[int]) -> tuple[str, ...]:
    """Return the views that take a draft, best first; the catch-all alone where no other does.

    ``views`` are the vectors of the scored views in their order, ``levels`` the scores they have to reach. What a
    statement's form makes certain (its aspect, a request, a plan) comes before what similarity suggests.
    """
    above = [permille(dot) - level for dot, level in zip(dots(vector, views), levels, strict=True)]
    scores = sorted(zip(above, _SCORED, strict=True), key=_best_first)
    near = [view for score, view in scores if score >= max(0, scores[0][0] - MARGIN)]
    return tuple(dict.fromkeys((*_certain(draft), *near)))[:MAX_VIEWS] or (OTHER,)


def _best_first(scored: tuple[int, str]) -> tuple[int, str]:
    return -scored[0], scored[1]


def _certain(draft: Draft) -> tuple[str, ...]:
    if draft.aspect is not None:
        also = ALSO.get(draft.aspect.attribute)
        return (draft.aspect.view,) if also is None else (draft.aspect.view, also)
    if is_request(draft.source):
        return (REQUESTS,)
    return (PLANS,) if is_plan(draft.source) else ()


def kind_of(views: Sequence[str], draft: Draft, *, persona: bool) -> ItemKind:
    """Return the kind of an item: its best view's, or what z_t called it where only the catch-all took it.

    Without ``persona`` (an agent's or a suspect turn) nothing becomes an attribute, nor does a statement that does not
    begin with its speaker.
    """
    kind = KINDS[views[0]]
    if views[0] == OTHER and draft.spoken == ItemKind.ATTRIBUTE:
        kind = ItemKind.ATTRIBUTE
    about = draft.aspect is not None or of_self(draft.source)
    return ItemKind.FACT if kind is ItemKind.ATTRIBUTE and not (persona and about) else kind


def scored_templates() -> tuple[str, ...]:
    """Return the descriptions of the scored views, in the order that ``views_of`` takes their vectors."""
    return _TEMPLATES
