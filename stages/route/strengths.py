"""Write strengths of the typed graph, in hundredths (AdaMem, appendix B.5; where it says ours, ours)."""

from __future__ import annotations

from typing import Final

from schemas.extracted import ItemKind

MENTIONS: Final = 75
SUPPORT: Final = {ItemKind.FACT: 85, ItemKind.ATTRIBUTE: 80, ItemKind.EVENT: 80}
"""Message to fact and to attribute are the paper's; message to event is ours: that of fact to event."""

LISTED: Final = 85
"""Ours: a turn and what it lists, as strong as message and fact."""

FACT_EVENT: Final = 80
SPEAKER_NEXT: Final = 90
SPEAKER_PREVIOUS: Final = 45
NEXT: Final = 70
PREVIOUS: Final = 35
SPEAKER_RELATED: Final = 65
SAME_TOPIC: Final = 60
"""Ours: below all edges of discourse, since a topic of a turn is a guess."""

CONTINUES: Final = 90
CONTINUED_BY: Final = 45
SUPERSEDES: Final = 100
"""Ours: it is not a guess but what the router did."""


def across(strength: int, *, same_branch: bool) -> int:
    """Return a temporal strength: in full inside a branch, half across (in channels two of three are not answers)."""
    return strength if same_branch else strength // 2
