"""Turns for the tests of the client."""

from __future__ import annotations

from datetime import UTC, datetime

from anabranch_client import Speaker, Turn

AT = datetime(2026, 3, 1, 18, 22, 5, tzinfo=UTC)
MIA = Speaker("u-42", "Mia")


def said(turn_id: str, text: str = "the floor gave way") -> Turn:
    return Turn(MIA, text, AT, turn_id=turn_id)
