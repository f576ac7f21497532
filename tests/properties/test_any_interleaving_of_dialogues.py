"""The five real stages: any order of spaces, any batches, repeats and deaths give the memory of an undisturbed run."""

from __future__ import annotations

from hypothesis import event, given
from hypothesis import strategies as st

from schemas.space import Space
from tests.fakes.dialogues import dialogue
from tests.fakes.disturbed import Way, small_window
from tests.fakes.effort import effort
from tests.fakes.folders import quick_folder
from tests.fakes.logs import mingled, runs, ways
from tests.fakes.rigs import check_each_as_alone, edge_rig, found, must_have_died, real_rig
from tests.fakes.sent import Sent

SPACES = (Space("acme/u-1"), Space("acme/u-2"))
Log = list[Sent]
deaths: list[int] = []


@effort(8)
@given(
    data=st.data(),
    logs=st.tuples(*(dialogue(space) for space in SPACES)),
    runs=runs,
    last=ways,
    window=st.sampled_from([4, 8, 64]),
)
async def test_each_space_remembers_what_it_would_alone(
    data: st.DataObject, logs: tuple[Log, ...], runs: list[tuple[int, Way]], last: Way, window: int
) -> None:
    mixed = data.draw(mingled(logs))
    with small_window(window):
        deaths.append(await check_each_as_alone(real_rig, dict(zip(SPACES, logs, strict=True)), mixed, runs, last))


@effort(3)
@given(
    data=st.data(),
    logs=st.tuples(*(dialogue(space, most=16) for space in SPACES)),
    runs=runs,
    last=ways,
)
async def test_the_real_index_tells_the_same(
    data: st.DataObject, logs: tuple[Log, ...], runs: list[tuple[int, Way]], last: Way
) -> None:
    mixed = data.draw(mingled(logs))
    with small_window(8), quick_folder() as folder:
        disturbed, calm = edge_rig(folder / "disturbed"), edge_rig(folder / "calm")
        await disturbed.live(mixed, runs, last)
        event(f"deaths: {disturbed.deaths}")
        deaths.append(disturbed.deaths)
        await calm.live([sent for log in logs for sent in log])
        for space in SPACES:
            assert disturbed.fortune(space) == calm.fortune(space)
            assert await found(disturbed, space) == await found(calm, space)


def test_runs_died_on_the_way() -> None:
    must_have_died(deaths)
