"""Discovery: every so many chunks a model proposes candidate views from the recent trace (AutoViewMem 3.1, phase 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.space import Space
from schemas.view import View, ViewSet
from stages.extract_per_view.answers import DISCOVER, Proposal, Proposals
from stages.extract_per_view.learning import EVERY, Learning, Traced, candidate_id, named
from stages.extract_per_view.sets import bounded
from stages.extract_per_view.wording import says_something
from stages.ports import LanguageModel, Request
from stages.prompts import as_data


@dataclass(frozen=True, slots=True)
class Proposed:
    """A candidate with the turns it was found in."""

    view: View
    turns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Discovery:
    """What a discovery brought; ``refused`` counts chunks that were named and not shown."""

    proposed: tuple[Proposed, ...] = ()
    refused: int = 0
    degraded: bool = False


def due(before: int, after: int) -> bool:
    """Tell whether the chunks from one count to the next complete a round."""
    return after // EVERY > before // EVERY


async def discover(
    language: LanguageModel, space: Space, learning: Learning, views: ViewSet, where: tuple[int, str]
) -> Discovery:
    """Return the candidates that the recent trace calls for.

    ``where`` is the position of the event that decides and the id of its turn, on which a candidate rests if the chunks
    that it names cannot be named.

    Raises:
        Unavailable: if the model does not answer.
    """
    position, turn_id = where
    answer = await language.ask(_request(space, learning.recent, views))
    if answer is None:
        return Discovery(degraded=True)
    turns = [_turns(learning.recent, one) for one in answer.views]
    proposed = tuple(
        Proposed(_view(position, number, one), named(own, turn_id))
        for number, (one, own) in enumerate(zip(answer.views, turns, strict=True))
    )
    refused = sum(len(set(one.chunks)) - len(own) for one, own in zip(answer.views, turns, strict=True))
    return Discovery(proposed, refused)


def _request(space: Space, trace: Sequence[Traced], views: ViewSet) -> Request[Proposals]:
    known = [{"name": view.name, "look_for": view.template} for view in views.views]
    return Request(
        space=space,
        prompt=DISCOVER,
        frame=as_data({"views": known}),
        data=as_data({"chunks": [{"n": number, "text": one.text} for number, one in enumerate(trace, 1)]}),
        check=_check,
    )


def _check(answer: Proposals) -> str | None:
    blank = [one for one in answer.views if not (says_something(one.name) and says_something(one.look_for))]
    return "Every view needs a name and what it looks for." if blank else None


def _turns(trace: Sequence[Traced], one: Proposal) -> tuple[str, ...]:
    """Return the turns of the chunks that a proposal names, of those that were shown."""
    return tuple(trace[number - 1].turn for number in dict.fromkeys(one.chunks) if 1 <= number <= len(trace))


def _view(position: int, number: int, one: Proposal) -> View:
    name = candidate_id(position, number)
    return bounded(View(id=name, name=one.name, kind=one.kind, slots=one.slots, template=one.look_for))
