"""The explicit rules of the cascade that need no read: what a turn says it goes on with."""

from __future__ import annotations

from collections.abc import Sequence

from stages.localize_state.cues import bare_answer, resumes_own
from stages.localize_state.forest import Forest
from stages.localize_state.incoming import Incoming
from stages.localize_state.nodes import Node, Person, Seen, Sign

PAUSE = 3600
"""Seconds after which who speaks again does not simply go on: an hour, longer than typing, shorter than a day."""

_CLEARLY = 150
"""Thousandths of a cosine by which an earlier open question must be nearer to an answer than the newest one. For
all-MiniLM-L6-v2, whose cosines spread widely; an encoder with all of them high would always take the newest."""

_CROWD = 3
"""Speakers that make a channel: with two, everything is said to the other."""


def is_channel(turn: Incoming, window: Sequence[Seen]) -> bool:
    """Tell whether several people talk here (three or more speakers, two of them human)."""
    if len({turn.person, *[one.person for one in window]}) < _CROWD:  # most spaces: no need to look closer
        return False
    voices = {one.person: bool(one.signs & Sign.AGENT) for one in window if not one.signs & Sign.SYSTEM}
    voices[turn.person] = bool(turn.signs & Sign.AGENT)
    humans = sum(not agent for agent in voices.values())
    return len(voices) >= _CROWD and humans > 1


def utterances(forest: Forest) -> list[Seen]:
    """Return the turns of the window that somebody spoke, newest first."""
    return [one for one in reversed(forest.window.entries) if not one.signs & Sign.SYSTEM]


def own_last(turn: Incoming, forest: Forest) -> Node | None:
    """Return the speaker's last turn if the words take it up ("as I was saying")."""
    if not resumes_own(turn):
        return None
    return _last_of(turn.person, forest.people)


def agent_reply(turn: Incoming, forest: Forest, said: Sequence[Seen]) -> Node | None:
    """Return what an agent's turn answers: a person's open turn, or its own reply that it goes on with."""
    if not turn.signs & Sign.AGENT or not said:
        return None
    addressed = next((one for one in said if one.person in turn.addressed), None)
    if addressed:
        return addressed
    newest = said[0]
    if newest.person == turn.person:
        return newest if turn.at - newest.at <= PAUSE and turn.session == newest.session else None
    waiting = [one for one in _until_agent(said) if not one.signs & Sign.AGENT]
    return _nearest(turn, forest, waiting) or newest


def bare_reply(turn: Incoming, said: Sequence[Seen]) -> Node | None:
    """Return the agent's question that a turn answers with a bare word."""
    if not said or said[0].person == turn.person or turn.at - said[0].at > PAUSE:
        return None
    return said[0] if bare_answer(turn, said[0].signs) else None


def partner_reply(turn: Incoming, said: Sequence[Seen]) -> Node | None:
    """Return the turn that the other of two people answers: one that opened an interaction a moment ago.

    A reply is not scored; what speaks of another matter ("by the way") is no reply.
    """
    if not said or turn.signs & (Sign.AGENT | Sign.OPENING):
        return None
    last = said[0]
    fresh = turn.at - last.at <= PAUSE and turn.session == last.session
    opened = last.interaction == last.position and not last.signs & Sign.AGENT
    return last if fresh and opened and last.person != turn.person else None


def absent(turn: Incoming, forest: Forest) -> Node | None:
    """Return the last turn of an addressed person who has not spoken within the window."""
    return next((node for person in turn.addressed if (node := _last_of(person, forest.people))), None)


def _until_agent(said: Sequence[Seen]) -> list[Seen]:
    agents = (index for index, one in enumerate(said) if one.signs & Sign.AGENT)
    return list(said[: next(agents, len(said))])


def _nearest(turn: Incoming, forest: Forest, waiting: Sequence[Seen]) -> Seen | None:
    """Return the newest of the waiting turns, or an earlier one that is clearly nearer in meaning."""
    if not waiting:
        return None
    cosines = forest.cosines(turn.vector)
    scores = [cosines.get(one.position, 0) for one in waiting]
    best = max(range(len(waiting)), key=lambda index: (scores[index], -index))
    return waiting[best] if scores[best] >= scores[0] + _CLEARLY else waiting[0]


def _last_of(person: int, people: Sequence[Person]) -> Node | None:
    return next((one.last for one in people if one.key == person), None)
