"""What an importer gives: the bytes to publish, and where they came from."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from infra.errors import UsageError
from schemas.space import Space


@dataclass(frozen=True, slots=True)
class Imported:
    """One event for the log. ``space_key`` is its key there, ``source`` says file and place for messages."""

    space_key: Space
    payload: bytes
    source: str


def own_space(tenant: str, name: object, source: Path) -> Space:
    """Return the space of a set's conversation.

    Raises:
        UsageError: if its name in the set is no name of a space.
    """
    try:
        return Space(f"{tenant}/{name}")
    except ValueError as error:
        msg = f"{source}: {error}; rename the conversation"
        raise UsageError(msg) from None


def encode(turn: dict[str, Any]) -> bytes:
    """Return a turn as JSON; in ASCII, so that even a lone surrogate of a source travels."""
    return json.dumps(turn, separators=(",", ":")).encode("ascii")


def stamp(at: datetime) -> str:
    """Return a time as turns carry it."""
    return at.isoformat()
