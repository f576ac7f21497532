"""The temporal rule: a turn that says when, or that it was earlier, is looked for on the global timeline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from schemas.interval import Interval
from stages.localize_state.anchors import node_of, path_of, path_to
from stages.localize_state.forest import Forest
from stages.localize_state.incoming import Incoming
from stages.localize_state.nodes import Node, Sign
from stages.localize_state.reads import Hit, content_of, lies_in

_WORD = 120
"""Thousandths of a cosine that a shared content word counts for: rare words tell more than a small
encoder does (all-MiniLM-L6-v2; for another it is to be measured again)."""

_FLOOR = 300
"""Likeness that "earlier" without a time must reach: a shared word and some nearness (of the same encoder), or the turn
is scored."""


@dataclass(frozen=True, slots=True)
class Place:
    """A turn on the timeline, how like it is, and the path down to it."""

    node: Node
    likeness: int
    path: str


def found_in_time(turn: Incoming, forest: Forest, hits: Sequence[Hit], intervals: tuple[Interval, ...]) -> Place | None:
    """Return the turn of that time that is most like this one; without a time, one of another branch.

    Of its interaction the newest known turn is taken: that is where the talk stood.
    """
    places = [*_of_old(turn, hits, intervals), *_lately(turn, forest, intervals)]
    if not intervals:
        active = next((one.branch for one in reversed(forest.window.entries) if not one.signs & Sign.SYSTEM), -1)
        places = [place for place in places if place.node.branch != active and place.likeness >= _FLOOR]
    return _end_of_talk(places)


def _of_old(turn: Incoming, hits: Sequence[Hit], intervals: tuple[Interval, ...]) -> Iterator[Place]:
    for hit in hits:
        node = node_of(hit.record)
        if node is not None and (not intervals or lies_in(hit.record.at, intervals)):
            shared = len({*turn.tokens}.intersection(content_of(hit.record)))
            yield Place(node, hit.cosine + _WORD * shared, path_of(hit.record))


def _lately(turn: Incoming, forest: Forest, intervals: tuple[Interval, ...]) -> Iterator[Place]:
    cosines = forest.cosines(turn.vector)
    for seen in forest.window:
        at = datetime.fromtimestamp(seen.at, UTC)
        if seen.signs & Sign.SYSTEM or seen.turn_id == turn.turn_id or (intervals and not lies_in(at, intervals)):
            continue
        shared = sum(token in seen.tokens for token in turn.tokens)
        yield Place(seen, cosines.get(seen.position, 0) + _WORD * shared, path_to(forest, seen))


def _end_of_talk(places: Sequence[Place]) -> Place | None:
    best = max(places, key=lambda place: (place.likeness, place.node.position), default=None)
    if best is None:
        return None
    same = [place for place in places if place.node.interaction == best.node.interaction]
    return max(same, key=lambda place: place.node.position)
