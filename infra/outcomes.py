"""What a log, its outcomes and its letters say together, wherever they lie."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from infra.memory_api import StageStatus, TurnState
from schemas.letter import Letter
from schemas.memory import OutcomeRow, OutcomeState, Row
from streams.codec import peek, revision
from streams.state import HEADER, STATE_HEADER, Saved


def turn_states(bodies: Iterable[bytes], rows: Iterable[Row], letters: Iterable[Letter]) -> Iterator[TurnState]:
    """Give each distinct turn id of a space, in the order of the log.

    Args:
        bodies: the events of the space's log, in order.
        rows: those of its memory; only outcomes are looked at.
        letters: the space's own, oldest first.
    """
    ended = _outcomes(rows)
    refused = {letter.turn_id: letter for letter in letters if letter.turn_id is not None}
    glances = map(peek, bodies)
    for turn_id in dict.fromkeys(seen.event_id for seen in glances if seen.event_id and not seen.is_control):
        outcome, letter = ended.get(turn_id), refused.get(turn_id)
        if outcome is not None:
            reason = letter.reason if letter and outcome.state is OutcomeState.LETTERED else outcome.reason
            yield TurnState(turn_id, outcome.position, outcome.state, reason)
        elif letter is not None:
            yield TurnState(turn_id, None, OutcomeState.LETTERED, letter.reason)
        else:
            yield TurnState(turn_id, None, None, None)


def _outcomes(rows: Iterable[Row]) -> dict[str, OutcomeRow]:
    """Return the outcome of each event id: committed once one of its positions is, else the newest."""
    ended: dict[str, OutcomeRow] = {}
    for row in rows:
        if not isinstance(row, OutcomeRow):
            continue
        known = ended.get(row.event_id)
        if known is None or row.state is OutcomeState.COMMITTED or known.state is not OutcomeState.COMMITTED:
            ended[row.event_id] = row
    return ended


def open_letters(rows: Iterable[Row], letters: Iterable[Letter]) -> int:
    """Count the letters whose event has not come to memory since, each event once."""
    committed = {name for name, row in _outcomes(rows).items() if row.state is OutcomeState.COMMITTED}
    waiting = [letter for letter in letters if letter.turn_id is None or letter.turn_id not in committed]
    return len({letter.turn_id or letter.letter_id for letter in waiting})


def stage_status(stage: str, saved: Saved, lag: int) -> StageStatus:
    """Return how far a stage is, and what its state takes."""
    sizes = {name: len(name) + len(data) for name, data in saved.parts.items() if name != HEADER}
    vectors = sum(size for name, size in sizes.items() if name.startswith("vectors"))
    return StageStatus(
        stage=stage,
        position=saved.header.position,
        lag=lag,
        state_bytes=sum(sizes.values()) - vectors + len(STATE_HEADER.encode(saved.header)),
        vector_bytes=vectors,
    )


def event_id_of(token: str) -> str:
    """Return the id in a causal token; an ``@`` belongs to it unless a revision number follows."""
    event_id, at, number = token.rpartition("@")
    return event_id if at and number.isdigit() else token


def is_named(body: bytes, token: str) -> bool:
    """Say whether a causal token (a turn id, ``id@revision`` or an event id) names an event of the log."""
    event_id = peek(body).event_id
    return event_id == token or f"{event_id}@{revision(body)}" == token
