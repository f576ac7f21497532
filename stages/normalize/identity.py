"""Whether a turn is new, a repeat, or a revision (mechanics, normalize 2)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from hashlib import blake2b
from itertools import takewhile

from schemas.memory import RecordKind
from schemas.turn import Turn
from stages.contract import WINDOW, Duplicate, Reject
from stages.normalize.clean import squeezed
from stages.normalize.state import NormalizeState
from stages.ports import Filter, Found, History

_FIRST_READ = 64
"""Records asked for at first: turns of over 64 pieces or revisions are rare, and then more are asked for."""


@dataclass(frozen=True, slots=True)
class Former:
    """The newest revision of a turn that took a position. ``text`` is a hash of its text."""

    position: int
    revision: int
    text: str


def digest(text: str) -> str:
    """Return 16 hex digits of BLAKE2b."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def text_digest(text: str) -> str:
    """Return a hash of a cleaned text that white space doesn't change: pieces are stored without it."""
    return digest(squeezed(text))


async def former_of(
    turn: Turn, position: int, state: NormalizeState, history: History, lettered: Collection[int] = ()
) -> Former | None:
    """Return the newest revision known: from the state, else from memory as of ``position - W``.

    At the positions ``lettered`` the turn became a letter in a later stage: memory holds nothing of it from there.

    Raises:
        Unavailable: if memory does not answer.
    """
    seen = state.newest(digest(turn.turn_id), lettered)
    if seen is not None:
        return Former(seen.position, seen.revision, seen.text)
    return await _recorded(turn, position - WINDOW, history) if position >= WINDOW else None


def judge(turn: Turn, text: str, former: Former | None) -> Duplicate | Reject | None:
    """Return what becomes of a turn that was seen before; ``None`` if it is new or a later revision."""
    if former is None or turn.revision > former.revision:
        return None
    if turn.revision < former.revision:
        return Duplicate(f"revision {turn.revision} is older than {former.revision}, which is known")
    if text_digest(text) == former.text:
        return Duplicate(f"revision {turn.revision} with this text is known since position {former.position}")
    return Reject(
        f"conflict: turn {turn.turn_id!r} of space {turn.space} came before with another text (position "
        f"{former.position}); publish a changed text with a `revision` above {former.revision}, another turn with "
        "another turn_id"
    )


async def _recorded(turn: Turn, as_of: int, history: History) -> Former | None:
    where = Filter(
        space=turn.space,
        as_of=as_of,
        kinds=frozenset({RecordKind.TURN}),
        turn_ids=frozenset({turn.turn_id}),
        closed_too=True,
    )
    found, limit = await history.matching(where, _FIRST_READ), _FIRST_READ
    while len(found) == limit:
        limit *= _FIRST_READ
        found = await history.matching(where, limit)
    return _newest([each for each in found if each.record.provenance[0] == turn.turn_id])


def _newest(found: list[Found]) -> Former | None:
    """Put the pieces of the newest revision together; they share their position."""
    if not found:
        return None
    position = found[0].record.since
    pieces = sorted(
        (each.record for each in takewhile(lambda each: each.record.since == position, found)),
        key=lambda record: record.piece,
    )
    detail = pieces[0].turn
    return Former(position, detail.revision if detail else 0, text_digest("".join(piece.text for piece in pieces)))
