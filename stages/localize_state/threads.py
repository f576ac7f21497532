"""Branches as candidates: a recently active one by its tip, an older one by its newest turn that a read found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schemas.memory import RecordRow
from stages.localize_state.anchors import path_of, placed
from stages.localize_state.forest import Forest
from stages.localize_state.incoming import Incoming
from stages.localize_state.nodes import Node, Tip, digest
from stages.localize_state.reads import Hit, content_of
from stages.localize_state.signals import signs

_TIPS_LOOKED_AT = 24
"""Tips that compete by themselves; a branch silent for longer comes back through the reads if its words do."""


@dataclass(slots=True)
class Thread:
    """A branch that a turn may go on with, at ``target``.

    ``age`` counts branches that were active later (0 = the active one), ``cosine`` is the best of its turns in
    thousandths, ``near`` that of its newest turn if its vector is at hand;
    ``path`` describes a branch that only records know.
    """

    target: Node
    age: int
    tokens: set[str]
    signs: int = 0
    session: int = 0
    cosine: int = 0
    near: int | None = None
    path: str = ""


def recent(turn: Incoming, forest: Forest, cosines: Mapping[int, int]) -> list[Thread]:
    """Return the recently active branches, the active one first; ``cosines`` of the last turns are by position."""
    newest = [tip for tip in reversed(forest.tips) if tip.turn_id != turn.turn_id][:_TIPS_LOOKED_AT]
    gathered = {tip.branch: _of_tip(tip, age) for age, tip in enumerate(newest)}
    for seen in forest.window:
        thread, cosine = gathered.get(seen.branch), cosines.get(seen.position)
        if thread is None or cosine is None:
            continue
        thread.cosine = max(thread.cosine, cosine)
        if seen.position == thread.target.position:
            thread.near = cosine
    return list(gathered.values())


def joined(threads: Sequence[Thread], hits: Sequence[Hit], tips: Sequence[Tip]) -> list[Thread]:
    """Add what reads found: to its branch if that is a candidate, else as a candidate behind the others."""
    by_branch = {thread.target.branch: thread for thread in threads}
    known = {tip.branch: tip for tip in tips}
    for hit in hits:
        record, detail = hit.record, hit.record.turn
        if detail is None:
            continue
        branch = detail.placement.branch
        thread = by_branch.get(branch)
        if thread is None:
            tip = known.get(branch)
            age = len(by_branch)
            thread = by_branch[branch] = _of_tip(tip, age) if tip else _of_record(record, placed(record, detail), age)
        elif thread.path and record.since > thread.target.position:
            thread.target, thread.path = placed(record, detail), path_of(record)
        thread.cosine = max(thread.cosine, hit.cosine)
        thread.tokens.update(content_of(record))
    return list(by_branch.values())


def _of_tip(tip: Tip, age: int) -> Thread:
    return Thread(tip, age, set(tip.tokens), tip.signs, tip.session)


def _of_record(record: RecordRow, node: Node, age: int) -> Thread:
    session = digest(record.session) if record.session else 0
    return Thread(node, age, set(), signs(record.text), session, path=path_of(record))
