"""The scored choice: the best candidate above the threshold, else a new root. All scores are integers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from stages.localize_state import channel, chat
from stages.localize_state.anchors import node_of
from stages.localize_state.channel_weights import CHANNEL
from stages.localize_state.chat_weights import CHAT
from stages.localize_state.forest import Forest
from stages.localize_state.incoming import Incoming
from stages.localize_state.names import called, directory
from stages.localize_state.nodes import Node, Seen, person_key
from stages.localize_state.reads import Hit, content_of
from stages.localize_state.signals import signs
from stages.localize_state.standings import talk_of
from stages.localize_state.threads import Thread

TAU = 0
"""A candidate must be likelier than a new root. What speaks for a root is itself weighed and taken off each score, so
the calibration (on the training split, see the weights) lies in the weights of the features named ``new …``."""

ADDRESS_MARGIN = 1000
"""Another's turn must beat the addressed person's best by this many thousandths of a logit: in nine of ten addressed
turns of the training split the addressee is answered, in the rest the words tell otherwise."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Scores of the candidates relative to a new root, and the chosen one (``None``: a new root)."""

    scored: tuple[tuple[int, Node], ...]
    best: Node | None
    score: int | None
    path: str = ""


def weigh(features: Iterable[str], weights: Mapping[str, int]) -> int:
    """Return the sum of the weights; a feature without one says nothing."""
    return sum(filter(None, map(weights.get, features)))


def choose(scored: Sequence[tuple[int, Node]]) -> Choice:
    """Take the best, of equal ones the newest, if it is above ``TAU``."""
    score, best = max(scored, key=lambda pair: (pair[0], pair[1].position), default=(TAU, None))
    return Choice(tuple(scored), best if score > TAU else None, score if scored else None)


def in_chat(turn: Incoming, threads: Sequence[Thread]) -> Choice:
    """Score the branches of a conversation of two."""
    rivals = chat.field_of(turn, threads)
    root = weigh(chat.opening(turn, rivals), CHAT)
    scored = [
        (weigh(chat.features(turn, index, rivals), CHAT) - root, thread.target) for index, thread in enumerate(threads)
    ]
    choice = choose(scored)
    path = next((thread.path for thread in threads if choice.best is thread.target), "")
    return Choice(choice.scored, choice.best, choice.score, path)


def in_channel(turn: Incoming, forest: Forest, hits: Sequence[Hit] = ()) -> Choice:
    """Score the turns of the window, and older ones that a read found."""
    talk, cosines = talk_of(turn, forest.window.entries), forest.cosines(turn.vector)
    pairs = [(standing, cosines[standing.seen.position]) for standing in talk.standings]
    names = directory(forest.people) if hits else {}
    pairs += [(channel.distant(seen), hit.cosine) for hit in hits if (seen := _seen(hit, names)) is not None]
    root = weigh(channel.opening(turn, talk), CHANNEL)
    scored = [
        (weigh(channel.features(turn, standing, talk, cosine), CHANNEL) - root, standing.seen)
        for standing, cosine in pairs
    ]
    return choose(scored)


def answered(turn: Incoming, choice: Choice) -> list[Node]:
    """Return the best turn of each addressed person; empty, if another's turn is clearly likelier."""
    top = max((score for score, _ in choice.scored), default=0)
    best: list[tuple[int, Node]] = []
    for person in turn.addressed:
        theirs = [pair for pair in choice.scored if pair[1].person == person]
        if theirs:
            best.append(max(theirs, key=lambda pair: (pair[0], pair[1].position)))
    return [node for _, node in best] if best and best[0][0] + ADDRESS_MARGIN >= top else []


def _seen(hit: Hit, names: Mapping[str, int]) -> Seen | None:
    node, record = node_of(hit.record), hit.record
    if node is None or record.speaker is None:
        return None
    whom = called(record.text, names, person_key(record.speaker.id))
    above = record.turn.placement.parent_position if record.turn else None
    return Seen(
        **dict(node),
        parent=-1 if above is None else above,
        signs=signs(record.text),
        words=len(record.text.split()),
        addressed=whom.addressed,
        named=whom.named,
        tokens=content_of(record),
    )
