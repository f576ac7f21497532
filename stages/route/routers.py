"""The three routers: leaving items against what is known, corrections against what was last said (AdaMem 3.2, E.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from schemas.extracted import ItemKind
from schemas.memory import ChangedRow, CloseCause, ClosedRow, EdgeRow, EdgeType
from schemas.space import Space
from stages.route.evidence import Evidence
from stages.route.ids import turn_record_id
from stages.route.rules import Action, Bands, Verdict, judge
from stages.route.strengths import SUPERSEDES, SUPPORT
from stages.route.targets import Group

MAX_RETIRED = 8
"""Records that one event may retire by routing (fault 18): more is a misunderstanding, and undo exists for the rest."""

_REASON = 200
"""Characters of a recorded reason: it is read by people."""


@dataclass(slots=True)
class Changes:
    """What routing decided for one event, collected in order."""

    space: Space
    position: int
    edges: list[EdgeRow] = field(default_factory=list)
    closed: list[ClosedRow] = field(default_factory=list)
    changed: list[ChangedRow] = field(default_factory=list)

    def retired(self) -> set[str]:
        """Return the ids that this event has retired so far."""
        return {row.id for row in self.closed} | {row.id for row in self.changed}

    def correct(self, new: Evidence, old: Evidence, reason: str = "") -> None:
        """Close ``old``, which ``new`` puts right."""
        self._supersede(new, old)
        reason = reason or f"{new.key.attribute}: corrected by {new.text}"
        self.closed.append(
            ClosedRow(
                space=self.space,
                id=old.id,
                until=self.position,
                cause=CloseCause.CORRECTION,
                successor=new.id,
                reason=clip(reason),
            )
        )

    def change(self, new: Evidence, old: Evidence, reason: str) -> None:
        """Mark ``old`` as superseded by ``new``: it stays, ranked under it."""
        self._supersede(new, old)
        self.changed.append(
            ChangedRow(space=self.space, id=old.id, position=self.position, successor=new.id, reason=clip(reason))
        )

    def support(self, new: Evidence, old: Evidence) -> None:
        """Let the turn of ``new`` support ``old``, which says the same, once: a turn may say a thing in two ways."""
        turn = turn_record_id(self.space, new.said)
        if all((edge.source, edge.target, edge.type) != (turn, old.id, EdgeType.SUPPORTS) for edge in self.edges):
            self._edge(turn, old.id, EdgeType.SUPPORTS, SUPPORT[new.kind])

    def _supersede(self, new: Evidence, old: Evidence) -> None:
        self._edge(new.id, old.id, EdgeType.SUPERSEDES, SUPERSEDES)

    def _edge(self, source: str, target: str, kind: EdgeType, strength: int) -> None:
        self.edges.append(
            EdgeRow(space=self.space, source=source, target=target, type=kind, strength=strength, since=self.position)
        )


def route(items: Sequence[Evidence], candidates: dict[Group, list[Evidence]], bands: Bands, changes: Changes) -> None:
    """Send leaving items through the router of their kind; what they do is added to ``changes``."""
    for kind in ItemKind:
        for item in (one for one in items if one.kind is kind):
            if item.id not in changes.retired():
                _routed(item, candidates.get(item.about, []), bands, changes)


def _routed(item: Evidence, known: Sequence[Evidence], bands: Bands, changes: Changes) -> None:
    gone = changes.retired()
    judged = [(old, judge(item, old, bands)) for old in known if old.id not in gone]
    updates = _of(judged, Action.UPDATE)
    for old, verdict in updates[: max(0, MAX_RETIRED - len(gone))]:
        changes.change(item, old, verdict.reason)
    same = _of(judged, Action.IGNORE)
    if same and not updates:
        changes.support(item, same[-1][0])


def _of(judged: Sequence[tuple[Evidence, Verdict | None]], action: Action) -> list[tuple[Evidence, Verdict]]:
    return [(old, verdict) for old, verdict in judged if verdict is not None and verdict.action is action]


def correct(items: Sequence[Evidence], candidates: dict[Group, list[Evidence]], changes: Changes) -> None:
    """Close what corrections of this very turn put right: what was last said on their key before them.

    An item of a chunk comes later than it was said: what others said meanwhile is not what it corrects.
    """
    for item in items:
        gone = changes.retired()
        known = [old for old in candidates.get(item.about, []) if old.id not in gone and old.said < item.said]
        last = next((old for old in known if not (old.suspect or old.tentative)), None)
        if last is not None and len(gone) < MAX_RETIRED:
            changes.correct(item, last)


def clip(reason: str) -> str:
    """Return a reason as it is recorded."""
    return reason[:_REASON]
