"""From a turn to its structured records: what an agent lists, what a person edits, and what each takes the place of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from schemas.localized import Localized
from schemas.normalized import Normalized
from schemas.structured import Form, Structured
from schemas.turn import Role
from stages.extract_per_view.structured import MEMBERS, Listing, bounded, listings, topic, with_members
from stages.extract_per_view.structured_edits import Edit, applied, edits
from stages.extract_per_view.structured_kept import FAMILIES, Listed, digest, names
from stages.extract_per_view.structured_standing import Standing, standing
from stages.ports import Embedder, History
from stages.text.ordinals import counted

RESTS = 8
"""Turns that a record rests on: so many edits in a row that nobody wrote the list out again are too many to be sure."""

_EDITED = frozenset({Form.LIST, Form.STEPS})
"""Forms whose members can be named by an ordinal alone."""


@dataclass(frozen=True, slots=True)
class Made:
    """A record to be: its listing, the standing record that it takes the place of, and the turns it rests on."""

    listing: Listing
    base: Standing | None
    turns: tuple[str, ...]
    owner: str

    @property
    def revision(self) -> int:
        """One more than the base's where the members differ from its, the same where they are only said again."""
        if self.base is None:
            return 0
        return self.base.revision + (names(self.listing.members) != self.base.names)


class Lists(NamedTuple):
    """The structured records of a turn, and how many there are beyond the bound."""

    records: tuple[Structured, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class Lister:
    """Makes the structured records of turns. Memory is read only where a turn lists or edits something."""

    embedder: Embedder
    history: History

    def texts(self, normalized: Normalized) -> list[str]:
        """Return the texts that will be embedded, as far as the turn alone tells."""
        return [one.text for one in listings(normalized.turn).found]

    async def of(self, message: Localized, kept: Sequence[Listed]) -> Lists:
        """Return the records of a turn; ``kept`` is what the last turns listed.

        Raises:
            Unavailable: if the index or the embedder does not answer.
        """
        found = listings(message.normalized.turn)
        asked = _edits(message.normalized)
        if not found.found and not asked:
            return Lists()
        known = await standing(self.history, message, kept)
        made = revised(message, found.found, known) if found.found else edited(message, asked, known)
        vectors = await self.embedder.embed([one.listing.text for one in made])
        records = (_structured(message, one, vector) for one, vector in zip(made, vectors, strict=True))
        return Lists(tuple(records), found.more)


def _edits(normalized: Normalized) -> list[Edit]:
    """Return what a person asks to be edited. What an agent says it has done was asked for, and done, before."""
    if normalized.turn.speaker.role is not Role.USER or normalized.suspect:
        return []
    return list(edits(normalized.turn.text))


def revised(message: Localized, found: Sequence[Listing], known: Sequence[Standing]) -> list[Made]:
    """Return what an agent's turn lists, each with the standing record that it revises; none is revised twice."""
    turn = message.normalized.turn
    left = [] if message.normalized.suspect else list(known)
    made: list[Made] = []
    for listing in found:
        base = next((one for one in left if revises(listing, one)), None)
        left = [one for one in left if one is not base]
        made.append(Made(listing, base, (turn.turn_id,), turn.speaker.id))
    return made


def revises(listing: Listing, old: Standing) -> bool:
    """Tell whether a list is a later state of another: of one form, and of one topic or with most members in common.

    Code is never known by its heading: what stands above it says what it is for, not which code it is.
    """
    if FAMILIES[listing.form] is not FAMILIES[old.form]:
        return False
    if listing.form is not Form.CODE and old.about and old.about == digest(topic(listing.heading)):
        return True
    mine, theirs = set(names(listing.members)[1:]), set(old.names[1:])
    return 2 * len(mine & theirs) > max(len(mine), len(theirs))


def edited(message: Localized, asked: Sequence[Edit], known: Sequence[Standing]) -> list[Made]:
    """Return the list that a person's edits make of the newest one of the branch; nothing where that is not certain."""
    base = _meant(asked, known)
    mine = message.normalized.turn.turn_id
    if base is None or not base.is_whole or len(base.turns) >= RESTS:
        return []
    members, numbers = base.members, base.numbers
    for one in asked:
        after = applied(one, members, numbers)
        if after is None or len(after) > MEMBERS:
            return []
        members, numbers = after, ()
    listing = with_members(Listing(base.form, base.heading, base.members), bounded(members))
    others = tuple(turn for turn in base.turns if turn != mine)
    return [Made(listing, base, (mine, *others), base.owner)]


def _meant(asked: Sequence[Edit], known: Sequence[Standing]) -> Standing | None:
    """Return the list that edits are about: the newest, if its turn wrote no other and they call its members so."""
    lists = [one for one in known if one.form in _EDITED]
    newest = [one for one in lists if one.place[0] == lists[0].place[0]]
    fitting = [one for one in newest if all(_speaks_of(each, one) for each in asked)]
    return fitting[0] if len(fitting) == 1 else None


def _speaks_of(asked: Edit, old: Standing) -> bool:
    return asked.nouns <= counted(old.heading) and (old.recent or asked.named or bool(asked.nouns))


def _structured(message: Localized, made: Made, vector: bytes) -> Structured:
    listing = made.listing
    return Structured(
        form=listing.form,
        heading=listing.heading,
        members=listing.members,
        text=listing.text,
        owner=made.owner,
        numbers=listing.numbers,
        more=listing.more,
        revision=made.revision,
        revises=made.base.id if made.base is not None else None,
        span=listing.span,
        suspect=message.normalized.suspect,
        provenance=made.turns,
        vector=vector,
    )
