"""However spaces mingle and whatever happens on the way, each remembers what it would alone and undisturbed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.disturbed import Way
from tests.fakes.effort import effort
from tests.fakes.logs import mingled, runs, sent_to, ways
from tests.fakes.rigs import check_each_as_alone, must_have_died, odd_rig
from tests.fakes.sent import Kind, Sent

SPACES = ("acme/u-1", "acme/u-2", "bell/u-1")
Log = list[Sent]
deaths: list[int] = []


@st.composite
def logs(draw: st.DrawFn) -> list[Log]:
    """Return a log for each space; one of them may be longer than the pipeline is deep."""
    crashing, many = draw(st.sampled_from([False, False, True])), draw(st.sampled_from([0, 0, 0, 80]))
    drawn = [draw(st.lists(sent_to(space, crashing=crashing), max_size=12)) for space in SPACES]
    return [[Sent(SPACES[0], Kind.TURN, f"n{n}", f"number {n}") for n in range(many)] + drawn[0], *drawn[1:]]


@effort(20)
@given(data=st.data(), logs=logs(), runs=runs, last=ways)
async def test_each_space_remembers_what_it_would_alone(
    data: st.DataObject, logs: list[Log], runs: list[tuple[int, Way]], last: Way
) -> None:
    mixed = data.draw(mingled(logs))
    deaths.append(await check_each_as_alone(odd_rig, dict(zip(SPACES, logs, strict=True)), mixed, runs, last))


def test_runs_died_on_the_way() -> None:
    must_have_died(deaths)
