"""What extraction remembers of a space: who takes part, and what was stated in the last W events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from pydantic import TypeAdapter

from schemas.base import Model
from schemas.extracted import ItemKind
from schemas.localized import Localized
from schemas.turn import Role, Speaker
from stages.contract import WINDOW
from stages.extract_per_view.learning import Learning
from stages.extract_per_view.structured_kept import PART, Listed, kept_after
from stages.packed import Packed
from stages.ring import PlacedModel, Ring, part_start

MAX_PARTIES = 3
"""Whether there are exactly two is all that is asked: a third settles it."""

MAX_STATEMENTS = 4
"""Statements of a turn that a later correction can be about: the last ones, which are the ones corrected."""

TEXT_BYTES = 400
"""Bytes of statements' text kept a turn, shared among them (the contract allows 500 a turn in all)."""

TOLD_BYTES = 640
"""Bytes of all of a turn's statements as they are stored: keys may be long too."""

_CHUNK = 4
"""Turns a part: with entries of some 700 bytes a turn rewrites two and a half of them on average."""


class Party(Model):
    """A participant: the id, and the name that stands for "you"."""

    id: str
    label: str


class Statement(Packed):
    """An item as a correction sees it. ``value`` is what it fixes: "day 2026-03-03", "number 7", or nothing.

    ``owner`` (``short``) is empty where it is the speaker.
    """

    kind: ItemKind
    attribute: str
    text: str = ""
    owner: str = ""
    subject: str | None = None
    values: tuple[str, ...] = ()


class Told(PlacedModel, Packed):
    """What a turn (``short``) stated, in which branch, and who said it (``short``).

    ``said`` is the position of the turn itself where it is not that of the event which brought its statements.
    """

    turn: str
    branch: int
    speaker: str
    statements: tuple[Statement, ...]
    said: int | None = None

    @property
    def spoken(self) -> int:
        """The position of the turn."""
        return self.position if self.said is None else self.said


_PARTIES = TypeAdapter(tuple[Party, ...])


@dataclass(frozen=True, slots=True)
class ExtractState:
    """State of ``extract_per_view`` for one space: parts ``parties``, ``told-N``, ``listed-N``, and ``learning``'s."""

    parties: tuple[Party, ...] = ()
    told: Ring[Told] = field(default_factory=Ring)
    listed: Ring[Listed] = field(default_factory=Ring)
    learning: Learning = field(default_factory=Learning)

    def parts(self) -> Mapping[str, bytes]:
        """Return the state as named parts."""
        rings = {**self.told.parts("told", _CHUNK), **self.listed.parts(PART, 1)}
        return {"parties": _PARTIES.dump_json(self.parties), **rings, **self.learning.parts()}

    @classmethod
    def from_parts(cls, parts: Mapping[str, bytes]) -> Self:
        """Build the state that ``parts`` was cut from.

        Raises:
            ValueError: if a part is malformed.
        """
        parties = _PARTIES.validate_json(parts["parties"]) if "parties" in parts else ()
        told, lists = Ring.from_parts("told", parts, Told), Ring.from_parts(PART, parts, Listed)
        return cls(parties=parties, told=told, listed=lists, learning=Learning.from_parts(parts))

    def after(self, *told: Told) -> Self:
        """Return the state after turns of which these things were told; one that states nothing leaves no entry."""
        entries = [one for one in told if one.statements]
        newest = max((one.position for one in told), default=0)
        kept = self.told.push(*entries, keep_from=part_start(newest - WINDOW + 1, _CHUNK))
        return replace(self, told=kept)

    def with_listed(self, message: Localized, entry: Listed) -> Self:
        """Return the state that remembers what a turn listed."""
        return replace(self, listed=kept_after(self.listed, message, entry))

    def with_party(self, speaker: Speaker) -> Self:
        """Return the state with ``speaker`` among the parties under their present name."""
        return replace(self, parties=joined(self.parties, speaker))


def joined(parties: tuple[Party, ...], speaker: Speaker) -> tuple[Party, ...]:
    """Return ``parties`` with ``speaker`` among them; the channel itself is none."""
    party = Party(id=speaker.id, label=speaker.label)
    if speaker.role is Role.SYSTEM or party in parties:
        return parties
    if any(known.id == party.id for known in parties):
        return tuple(party if known.id == party.id else known for known in parties)
    return (*parties, party)[:MAX_PARTIES]


def other_than(parties: tuple[Party, ...], speaker: Speaker) -> str | None:
    """Return the name of the only other party, or ``None`` where there is none or more than one."""
    others = [party.label for party in parties if party.id != speaker.id]
    return others[0] if len(others) == 1 else None
