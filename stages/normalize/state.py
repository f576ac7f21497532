"""What the first stage keeps of a space: the ids of the last turns, the things they named, what a model is shown."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from pydantic import TypeAdapter

from schemas.normalized import Normalized
from stages.contract import WINDOW
from stages.normalize.heard import MOST_HEARD, Heard, heard
from stages.normalize.mentions import Nearby
from stages.normalize.things import Thing
from stages.ring import CHUNK, PlacedModel, Ring, part_start
from stages.stored import size

NEIGHBOURS = 10
"""Positions back in which a "that book" is looked for: further off, people say the name again."""

_NAMED_BYTES = 380
"""Bytes of names a turn, of the 500 that a state may hold."""

_CHUNK = 2
"""Turns a part of those with their names: a turn writes one and a half of them on average."""


class Seen(PlacedModel):
    """A turn that took ``position``: hashes (16 hex digits) of its id and of its text, and its revision."""

    turn: str
    revision: int
    text: str


class Named(PlacedModel):
    """The (name, class) pairs that a turn brought up, in order; ``session`` is a hash of the client's session."""

    turn_id: str
    session: str
    things: tuple[tuple[str, str], ...]


_HEARD = TypeAdapter(tuple[Heard, ...])


@dataclass(frozen=True, slots=True)
class NormalizeState:
    """Turns of the last W positions and things of the last few, at most 16 KB beside the turns' own ids.

    ``heard`` are the beginnings of the last four turns, kept only where a language model is to read them.
    """

    seen: Ring[Seen] = field(default_factory=Ring)
    named: Ring[Named] = field(default_factory=Ring)
    heard: tuple[Heard, ...] = ()

    def parts(self) -> Mapping[str, bytes]:
        """Cut both rings into parts; what is heard is one."""
        own = {"heard": _HEARD.dump_json(self.heard)} if self.heard else {}
        return {**self.seen.parts("seen"), **self.named.parts("named", _CHUNK), **own}

    @classmethod
    def from_parts(cls, parts: Mapping[str, bytes]) -> Self:
        """Build the state again.

        Raises:
            ValueError: if a part is malformed.
        """
        return cls(
            Ring.from_parts("seen", parts, Seen),
            Ring.from_parts("named", parts, Named),
            _HEARD.validate_json(parts["heard"]) if "heard" in parts else (),
        )

    def newest(self, turn: str, but: Collection[int] = ()) -> Seen | None:
        """Return the newest revision seen of the turn with this hash, if it is among the last W positions.

        The positions ``but`` are passed over.
        """
        seen = [each for each in self.seen.entries if each.turn == turn]
        return max((each for each in seen if each.position not in but), key=lambda each: each.revision, default=None)

    def nearby(self, position: int, turn_id: str, session: str) -> tuple[Nearby, ...]:
        """Return the things of the turns before ``position``, newest last; those of another session aren't near."""
        return tuple(
            Nearby(each.turn_id, tuple(Thing(name, kind, 0, 0) for name, kind in each.things))
            for each in self.named
            if each.position >= position - NEIGHBOURS and each.session == session and each.turn_id != turn_id
        )

    def after(self, seen: Seen, turn_id: str, session: str, things: tuple[Thing, ...]) -> Self:
        """Return the state after a turn: what the next event can reach is kept."""
        named = Named(position=seen.position, turn_id=turn_id, session=session, things=_bounded(things))
        return replace(
            self,
            seen=self.seen.push(seen, keep_from=part_start(seen.position + 1 - WINDOW, CHUNK)),
            named=self.named.push(named, keep_from=part_start(seen.position + 1 - NEIGHBOURS, _CHUNK)),
        )

    def before(self, revises: int | None) -> tuple[Heard, ...]:
        """Return the last turns as a model is shown them, without the former text of the one that it is to read."""
        return tuple(each for each in self.heard if each.position != revises)

    def unhearing(self, revises: int | None) -> Self:
        """Return the state without the former text of a revised turn: it stands no more, whatever the new one says."""
        return replace(self, heard=self.before(revises))

    def hearing(self, message: Normalized) -> Self:
        """Return the state, that of after this turn, with the turn's beginning among the last ``MOST_HEARD``."""
        position = message.header.position
        things = [each.things for each in self.named if each.position == position]
        return replace(self, heard=(*self.before(message.revises), heard(message, size(things)))[-MOST_HEARD:])


def _bounded(things: tuple[Thing, ...]) -> tuple[tuple[str, str], ...]:
    """Return the last things that fit: the nearest to the next turn."""
    kept: list[tuple[str, str]] = []
    room = _NAMED_BYTES
    for thing in reversed(things):
        room -= len(thing.name.encode()) + len(thing.kind) + 7  # quotes, comma and brackets of JSON
        if room < 0:
            break
        kept.append((thing.name, thing.kind))
    return tuple(reversed(kept))
