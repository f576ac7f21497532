"""Logs drawn at random: what is sent to a space, how spaces mingle, and how runs are disturbed."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from stages.contract import Unavailable
from tests.fakes.disturbed import Way
from tests.fakes.odd_stages import CRASHES, REFUSED
from tests.fakes.plain_engine import STAGES
from tests.fakes.runtime import Died
from tests.fakes.sent import JUNK, Kind, Sent

_ids = st.integers(0, 30).map(str)
_plain = st.sampled_from(["one", "two words", "third \u2014 \U0001f600", '"quoted"', "null"])
_odd = st.sampled_from(["", " \n", *(f"{REFUSED}{stage}" for stage in STAGES)])


def sent_to(space: str, *, crashing: bool = True) -> st.SearchStrategy[Sent]:
    """Return a strategy of events for a space of the echo stages."""
    here = st.just(space)
    turns = st.builds(Sent, here, st.just(Kind.TURN), _ids, st.one_of(_plain, _plain, _odd))
    others = st.builds(Sent, here, st.sampled_from([Kind.DRAIN, Kind.FORGED, Kind.FAULTY, Kind.STRAY]), _ids)
    junk = st.sampled_from([Sent(space, Kind.JUNK, text=name) for name in JUNK])
    crashes = st.builds(Sent, here, st.just(Kind.TURN), _ids, st.sampled_from([f"{CRASHES}{s}" for s in STAGES]))
    return st.one_of(turns, turns, turns, others, others, junk, *([crashes] if crashing else []))


ways = st.builds(
    Way,
    cut=st.sampled_from([1, 2, 3, 7, 32]),
    lookahead=st.sampled_from([1, 2, 5, 40, 256]),
    lanes=st.sampled_from([1, 2, 64]),
    repeats=st.one_of(st.none(), st.integers(0, 2**16)),
)
"""Ways of runs that live."""


@st.composite
def deadly(draw: st.DrawFn, steps: int = 250) -> Way:
    """Return a way that ends at one of the first ``steps`` steps (a run of fewer lives; an event takes some twenty)."""
    way, at = draw(ways), draw(st.one_of(st.integers(1, 20), st.integers(1, 60), st.integers(1, steps)))
    error = draw(st.sampled_from([Died, Died, Died, Unavailable]))
    return Way(way.cut, way.lookahead, way.lanes, way.repeats, at, error)


@st.composite
def mingled(draw: st.DrawFn, logs: Sequence[Sequence[Sent]]) -> list[Sent]:
    """Return one log of several, the order inside each kept."""
    left = [list(log) for log in logs]
    size = sum(map(len, left))
    picks = draw(st.lists(st.integers(0, len(logs) - 1), min_size=size, max_size=size))
    out = [left[pick].pop(0) for pick in picks if left[pick]]
    return out + [sent for log in left for sent in log]


runs = st.lists(st.tuples(st.integers(1, 30), st.one_of(ways, deadly(), deadly(), deadly())), min_size=1, max_size=4)
"""What happens before all is published: so many events more, then a run, which may die."""
