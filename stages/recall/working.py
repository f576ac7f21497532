"""Working memory at recall: of one key, what is still worked with stands above what has left (mechanics, route 1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from stages.recall.bodies import Bodies
from stages.recall.candidate import Candidate, ranked, said_at

_Key = tuple[str, str | None, str]
"""Owner, subject and attribute: quicker to look up by than the model."""

_Keyed = tuple[Candidate, int]
"""A candidate and the position at which its item was said."""


def working_first(candidates: Iterable[Candidate], bodies: Bodies) -> list[Candidate]:
    """Return the candidates best first, a working item above the older ones of its key that have left.

    A candidate's item is its best match. Only what was found is lifted; nothing is read for it. A guess stands for
    nothing that is worked with.
    """
    raised = {one.turn_id: one for one in candidates}
    for group in _by_key(raised.values(), bodies).values():
        for one, said in group:
            older = [other.score for other, before in group if before < said and other.item in bodies.left]
            if one.item not in bodies.left and older and max(older) >= one.score:
                raised[one.turn_id] = one.plus("working", max(older) + 1 - one.score)
    return ranked(raised.values())


def _by_key(candidates: Iterable[Candidate], bodies: Bodies) -> dict[_Key, Sequence[_Keyed]]:
    groups: defaultdict[_Key, list[_Keyed]] = defaultdict(list)
    for one in candidates:
        row = bodies.rows.get(one.item) if one.item is not None else None
        if row is not None and row.key is not None and row.rests_on is None:
            groups[row.key.owner, row.key.subject, row.key.attribute].append((one, said_at(row)))
    return {key: group for key, group in groups.items() if len(group) > 1}
