"""Objects as ``--json`` prints them and the gateway answers with them."""

from __future__ import annotations

from typing import Any

from infra.memory_api import TurnState
from schemas.localized import Placement
from schemas.recall import Bundle


def turn(one: TurnState) -> dict[str, Any]:
    """Return what became of a turn."""
    state = one.state.value if one.state else "pending"
    return {"turn_id": one.turn_id, "position": one.position, "state": state, "reason": one.reason}


def placement(turn_id: str | None, placed: Placement) -> dict[str, Any]:
    """Return where a turn hangs in the forest."""
    return {
        "turn_id": turn_id,
        "parent_turn_id": placed.parent_turn_id,
        "other_parents": list(placed.other_parents),
        "rule": placed.rule.value,
        "score": placed.score,
        "runners_up": [{"turn_id": other.turn_id, "score": other.score} for other in placed.runners_up],
    }


def bundle(given: Bundle, turn_id: str | None = None) -> dict[str, Any]:
    """Return the bundle for a turn that is not published; ``turn_id`` is what the asker calls it."""
    told = given.model_dump(mode="json", include={"lines", "tokens"})
    return {"placement": placement(turn_id, given.placement)} | told
