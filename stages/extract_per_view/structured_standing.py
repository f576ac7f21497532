"""The structured records of a branch that stand: those of the state, and memory's as of p - W."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from schemas.localized import Localized
from schemas.memory import RecordKind, RecordRow
from schemas.structured import Form
from stages.contract import WINDOW
from stages.extract_per_view.structured import topic
from stages.extract_per_view.structured_kept import KeptRecord, Listed, apart, digest, names, structured_id
from stages.ports import Filter, History
from stages.stored import short, whole

STORED = 8
"""Records of a branch that are read: the newest, since a later list revises what was spoken of last."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A record that a later list may revise. ``members`` are empty where the state had no room for them.

    ``turns`` are the turns that it rests on, its own first, ``owner`` the agent whose list it is; both empty where they
    are known by their digests only. ``recent``: it came in the last W events.
    """

    id: str
    place: tuple[int, int]
    form: Form
    about: str
    names: tuple[str, ...]
    revision: int
    heading: str
    members: tuple[str, ...]
    numbers: tuple[int, ...]
    turns: tuple[str, ...]
    owner: str
    recent: bool

    @property
    def is_whole(self) -> bool:
        """Whether all is known that a record made from this one has to say."""
        return bool(self.members and self.turns and self.owner)


async def standing(history: History, message: Localized, kept: Iterable[Listed]) -> list[Standing]:
    """Return the records of the branch of ``message`` that nothing has taken the place of, newest first.

    Those of a turn that was revised, the one that ``message`` revises included, stand no more.

    Raises:
        Unavailable: if the index does not answer.
    """
    entries = [one for one in kept if one.position != message.normalized.revises]
    mine = short(message.normalized.turn.turn_id)
    stale = {mine} | {one.turn for one in entries if not one.records}
    recent = [_recent(message, one, row) for one in entries for row in one.records if not stale.intersection(row.rests)]
    gone = {row.revises for one in entries for row in one.records}
    branch = message.placement.branch
    same = {one.position for one in entries if one.branch == branch}
    found = {one.id: one for one in await _stored(history, message, stale)}
    found |= {one.id: one for one in recent if one.place[0] in same}
    return sorted((one for one in found.values() if one.id not in gone), key=lambda one: one.place, reverse=True)


def _recent(message: Localized, entry: Listed, row: KeptRecord) -> Standing:
    turns = (entry.turn, *row.rests)
    known = all(whole(turn) for turn in turns) and whole(entry.owner)
    return Standing(
        id=structured_id(message.header.space, entry.position, row.ordinal),
        place=(entry.position, row.ordinal),
        form=Form(row.form),
        about=row.about,
        names=apart(row.names),
        revision=row.revision,
        heading=row.heading,
        members=row.members,
        numbers=row.numbers,
        turns=turns if known else (),
        owner=entry.owner if known else "",
        recent=True,
    )


async def _stored(history: History, message: Localized, stale: set[str]) -> list[Standing]:
    as_of = message.header.position - WINDOW
    if as_of < 0:
        return []
    where = Filter(
        message.header.space,
        as_of,
        frozenset({RecordKind.STRUCTURED}),
        branches=frozenset({message.placement.branch}),
    )
    found = await history.matching(where, STORED)
    rows = (one.record for one in found if one.changed is None)
    return [_of_row(row) for row in rows if not stale.intersection(map(short, row.provenance)) and not row.suspect]


def _of_row(row: RecordRow) -> Standing:
    return Standing(
        id=row.id,
        place=(row.since, -1),
        form=row.form or Form.LIST,
        about=digest(topic(row.heading)),
        names=names(row.members),
        revision=row.revision,
        heading=row.heading,
        members=row.members,
        numbers=row.numbers,
        turns=row.provenance,
        owner=row.owner or "",
        recent=False,
    )
