"""The state of extraction at its worst: long ids, twelve statements a turn, and six long lists in every second one."""

from __future__ import annotations

from schemas.localized import Localized
from schemas.turn import Role
from tests.fakes.busy import localized, longest
from tests.unit.stages.test_bounds_of_state import LIMIT, WRITTEN, home

TURNS = 90


def listing(message: Localized) -> Localized:
    """Return the turn as an agent's, with lists of many members behind what it says."""
    n = message.header.position
    lists = (f"Birds {b} of lake {n}:\n" + "\n".join(f"- bird {x} \u9dfa{n}{b}" for x in range(24)) for b in range(6))
    normalized, turn = message.normalized, message.normalized.turn
    text = "\n\n".join((normalized.text, *lists))
    agent = turn.speaker.model_copy(update={"role": Role.AGENT})
    turn = turn.model_copy(update={"speaker": agent, "text": text})
    return message.model_copy(update={"normalized": normalized.model_copy(update={"turn": turn, "text": text})})


async def test_lists_leave_the_state_within_its_bounds() -> None:
    extract = home("extract_per_view")
    for message in await localized(TURNS, longest("\U0001f600")):
        heard = listing(message) if message.header.position % 2 else message
        await extract.hear(heard, weighed=message.header.position >= TURNS - 12)
    assert max(extract.sizes) < LIMIT
    assert sum(extract.written[1:]) / len(extract.written[1:]) < WRITTEN
