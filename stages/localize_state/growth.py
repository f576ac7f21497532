"""How a placed turn changes the forest."""

from __future__ import annotations

from itertools import islice

from schemas.localized import Placement
from schemas.normalized import Normalized
from stages.localize_state.forest import Forest, sized
from stages.localize_state.incoming import Incoming
from stages.localize_state.names import renamed
from stages.localize_state.nodes import Node, Person, Seen, Sign, Tip
from stages.text.beginning import beginning

_GIST_BYTES = 96
"""Bytes of a turn's gist: five of them and the root's make a path summary."""

_TOKENS = 16
_BRANCH_TOKENS = 24
"""Content stems kept of a turn and of a branch, so that an entry stays within 500 bytes."""

_TOKEN = 16
"""Bytes of a stem."""

_NAME = 64
"""Characters kept of a name: people are called by no more, and channels' nicks are shorter."""

_WHOM = 4
"""People kept whom a turn addresses, and whom it names."""


def grow(forest: Forest, message: Normalized, turn: Incoming, place: Placement) -> Forest:
    """Return the forest after ``turn`` took its ``place``."""
    node = _node(forest, turn, place)
    if turn.signs & Sign.SYSTEM:
        change = renamed(turn.text)
        base = forest.renamed(*change, turn.position) if change else forest
        return base.grown(_seen(message, turn, node, place), turn.vector, None, None)
    person = sized(Person(position=turn.position, key=turn.person, name=turn.name[:_NAME], last=node))
    seen = _seen(message, turn, node, place)
    return forest.grown(seen, turn.vector, _tip(forest, turn, node, seen.gist), person)


def _node(forest: Forest, turn: Incoming, place: Placement) -> Node:
    opener = turn.person if place.interaction == turn.position else _opener(forest, place)
    return Node(
        position=turn.position,
        turn_id=turn.turn_id,
        person=turn.person,
        at=turn.at,
        branch=place.branch,
        interaction=place.interaction,
        opener=opener,
        depth=place.depth,
    )


def _opener(forest: Forest, place: Placement) -> int:
    return next((one.opener for one in forest.nodes if one.interaction == place.interaction), 0)


def _seen(message: Normalized, turn: Incoming, node: Node, place: Placement) -> Seen:
    return sized(
        Seen(
            **dict(node),
            parent=-1 if place.parent_position is None else place.parent_position,
            session=turn.session,
            signs=turn.signs,
            words=turn.words,
            addressed=turn.addressed[:_WHOM],
            named=turn.named[:_WHOM],
            tokens=_tokens(turn.tokens, _TOKENS),
            gist=_gist(message),
        )
    )


def _tip(forest: Forest, turn: Incoming, node: Node, gist: str) -> Tip:
    before = forest.tip(node.branch)
    return sized(
        Tip(
            **dict(node),
            session=turn.session,
            signs=turn.signs,
            title=before.title if before else gist,
            gist=gist,
            tokens=_tokens((*turn.tokens, *(before.tokens if before else ())), _BRANCH_TOKENS),
        )
    )


def _tokens(tokens: tuple[str, ...], most: int) -> tuple[str, ...]:
    return tuple([beginning(token, _TOKEN) for token in islice(dict.fromkeys(tokens), most)])


def _gist(message: Normalized) -> str:
    """Return what a path says of a turn: nothing of one shaped as instructions, since models read paths."""
    return "" if message.suspect else beginning(" ".join(message.z.summary.split()), _GIST_BYTES)
