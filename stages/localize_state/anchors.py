"""A turn that another can hang under, be it in the window, a tip, or a record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from schemas.localized import Placement, Rule, RunnerUp
from schemas.memory import RecordRow, TurnDetail
from stages.contract import WINDOW
from stages.localize_state.forest import Forest
from stages.localize_state.incoming import Incoming
from stages.localize_state.nodes import Node, Seen, Sign, person_key
from stages.text.beginning import beginning

PATH_BYTES = 500
"""Bytes of a path summary, by contract."""

_STEPS = 4
"""Newest turns of a path that are told after its root; the tips' titles tell what the branch is about."""

_RUNNERS_UP = 3
"""Candidates that a placement tells beside the chosen one: enough to see how close it was."""

_ARROW = " \u203a "
"""What stands between the steps of a path summary."""


def node_of(record: RecordRow) -> Node | None:
    """Return the place of a turn's record, ``None`` for a piece without one."""
    return None if record.turn is None else placed(record, record.turn)


def placed(record: RecordRow, detail: TurnDetail) -> Node:
    """Return the place of a turn's record whose details are ``detail``."""
    speaker = person_key(record.speaker.id) if record.speaker else 0
    place = detail.placement
    return Node(
        position=record.since,
        turn_id=detail.turn_id,
        person=speaker,
        at=int(record.at.timestamp()),
        branch=place.branch,
        interaction=place.interaction,
        opener=speaker if place.interaction == record.since else 0,
        depth=place.depth,
    )


def rooted(turn: Incoming, score: int | None = None, runners_up: tuple[RunnerUp, ...] = ()) -> Placement:
    """Place a turn as the root of a new branch."""
    return Placement(
        rule=Rule.NEW_ROOT, score=score, runners_up=runners_up, branch=turn.position, interaction=turn.position
    )


def under(turn: Incoming, parent: Node, rule: Rule, path: str, score: int | None = None) -> Placement:
    """Place a turn under ``parent``."""
    return Placement(
        parent_turn_id=parent.turn_id,
        parent_position=parent.position,
        rule=rule,
        score=score,
        branch=parent.branch,
        interaction=turn.position if opens(turn, parent) else parent.interaction,
        depth=parent.depth + 1,
        path_summary=path,
    )


def opens(turn: Incoming, parent: Node) -> bool:
    """Tell whether a turn opens an interaction: its opener speaks again, or it is long ago or nobody's."""
    if turn.signs & Sign.AGENT and parent.opener != turn.person:
        return False
    return parent.opener in {0, turn.person} or turn.position - parent.interaction > WINDOW


def runners_up(scored: Sequence[tuple[int, Node]], chosen: Node | None) -> tuple[RunnerUp, ...]:
    """Return the best that were not chosen; equal scores in the order of positions, the newest first."""
    rest = [pair for pair in scored if chosen is None or pair[1].position != chosen.position]
    best = sorted(rest, key=lambda pair: (-pair[0], -pair[1].position))[:_RUNNERS_UP]
    return tuple(RunnerUp(turn_id=node.turn_id, score=score) for score, node in best)


def path_to(forest: Forest, parent: Node) -> str:
    """Describe the branch down to ``parent`` from what the state still knows of it, at most ``PATH_BYTES``."""
    seen = {one.position: one for one in forest.window}
    tip = forest.tip(parent.branch)
    title = tip.title if tip else ""
    steps = list(islice(_up(seen, parent.position), _STEPS))
    if not steps:
        newest = tip is not None and tip.position == parent.position
        return told(title, [tip.gist] if tip and newest and tip.depth else [])
    return told("" if steps[-1].parent < 0 else title, [one.gist for one in reversed(steps)])


def path_of(record: RecordRow) -> str:
    """Describe the branch down to a turn that only its record knows."""
    if record.turn is None:
        return ""
    above = beginning(record.turn.placement.path_summary, PATH_BYTES * 3 // 5)
    return told(above, [] if record.suspect else [beginning(record.turn.z.summary, PATH_BYTES // 3)])


def told(title: str, gists: list[str]) -> str:
    """Join the root's gist and the newest steps; the oldest steps go first where room is short."""
    room = PATH_BYTES - len(title.encode())
    kept: list[str] = []
    for gist in reversed(gists):
        room -= len(gist.encode()) + len(_ARROW.encode())
        if room < 0:
            break
        kept.append(gist)
    return _ARROW.join(part for part in (title, *reversed(kept)) if part)


def _up(seen: dict[int, Seen], position: int) -> Iterator[Seen]:
    while position in seen:
        yield seen[position]
        position = seen[position].parent
