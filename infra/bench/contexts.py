"""Contexts that need no memory: all that was said, or the newest turns. What an answer from memory is compared with.

Turns are never cut: what does not fit whole is left out, the oldest first, so that a context is always the end of the
conversation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from infra.bench.baselines import labelled
from infra.bench.question_sets import PlainTurn
from stages.text.cost import estimate

RECENT: Final = 20
"""Turns of the recent baseline: as many as working memory holds (AdaMem's C_w)."""

_NO_TIMES: Final[Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True)
class Context:
    """Lines "[time] name: text" in the order of the conversation, and the ids of their turns.

    ``tokens`` is what the lines cost together; ``whole`` whether all turns asked for are there.
    """

    text: str
    turn_ids: tuple[str, ...]
    tokens: int
    whole: bool


def full_context(
    turns: Sequence[PlainTurn],
    budget: int,
    times: Mapping[str, str] = _NO_TIMES,
    count: Callable[[str], int] = estimate,
) -> Context:
    """Return all turns, or the newest of them that ``budget`` tokens hold.

    ``times`` are written times by turn id; a turn without one shows none. ``count`` says what a line costs.

    Raises:
        ValueError: if the budget is below 1.
    """
    if budget < 1:
        msg = f"a context needs a budget of at least one token, got {budget}"
        raise ValueError(msg)
    kept = list(_newest_first(turns, budget, times, count))[::-1]
    return Context(
        "\n".join(line for _, line, _ in kept),
        tuple(turn.turn_id for turn, _, _ in kept),
        sum(cost for _, _, cost in kept),
        len(kept) == len(turns),
    )


def recent_turns(
    turns: Sequence[PlainTurn],
    budget: int,
    times: Mapping[str, str] = _NO_TIMES,
    count: Callable[[str], int] = estimate,
    most: int = RECENT,
) -> Context:
    """Return the newest ``most`` turns, or as many of them as ``budget`` tokens hold.

    Raises:
        ValueError: if the budget or ``most`` is below 1.
    """
    if most < 1:
        msg = f"recent turns are at least one, got {most}"
        raise ValueError(msg)
    return full_context(turns[-most:], budget, times, count)


def _newest_first(
    turns: Sequence[PlainTurn], budget: int, times: Mapping[str, str], count: Callable[[str], int]
) -> Iterator[tuple[PlainTurn, str, int]]:
    for turn in reversed(turns):
        line = _line(turn, times.get(turn.turn_id))
        cost = count(f"{line}\n")
        budget -= cost
        if budget < 0:
            return
        yield turn, line, cost


def _line(turn: PlainTurn, time: str | None) -> str:
    return f"[{time}] {labelled(turn)}" if time else labelled(turn)
