"""The turn that is to be placed, as scoring sees it."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.normalized import Normalized
from schemas.turn import Role
from stages.localize_state.forest import Forest
from stages.localize_state.names import called, directory
from stages.localize_state.nodes import Sign, digest, person_key
from stages.localize_state.signals import signs
from stages.text.tokens import content_tokens

_MOST_TOKENS = 40
"""Content words of a turn that are compared; a longer turn is known well enough by its first ones."""

_LOOKED_AT = 2000
"""Characters of a text whose words are looked at, so that an over-long turn costs no more than others."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A turn with what its words show. ``at`` is in seconds since 1970; people are keys."""

    turn_id: str
    position: int
    text: str
    person: int
    name: str
    at: int
    session: int
    signs: int
    words: int
    addressed: tuple[int, ...]
    named: tuple[int, ...]
    tokens: tuple[str, ...]
    vector: bytes


def incoming(message: Normalized, forest: Forest) -> Incoming:
    """Look at the words of a turn, with the people of the space in mind."""
    turn, text = message.turn, message.text[:_LOOKED_AT]
    name = turn.speaker.label
    # by name first: who changed their nick speaks under another id, and is still the same person
    person = next((p.key for p in forest.people if p.name == name), None) or person_key(turn.speaker.id)
    whom = called(text, directory(forest.people), person)
    role = {Role.AGENT: Sign.AGENT, Role.SYSTEM: Sign.SYSTEM}.get(turn.speaker.role, 0)
    return Incoming(
        turn_id=turn.turn_id,
        position=message.header.position,
        text=text,
        person=person,
        name=name,
        at=int(turn.at.timestamp()),
        session=digest(turn.session) if turn.session else 0,
        signs=signs(text) | role,
        words=len(text.split()),
        addressed=whom.addressed,
        named=whom.named,
        tokens=tuple(dict.fromkeys(content_tokens(text)))[:_MOST_TOKENS],
        vector=message.pieces[0].vector,
    )
