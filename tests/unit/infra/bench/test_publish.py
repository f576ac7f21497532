"""``bench publish``: a small run, and a verdict that sees what is missing or there twice."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from infra.bench.bots import Told
from infra.bench.publish_run import Outcome, Wanted, _judged, run_publish
from infra.bench.report import quantile
from infra.settings import Settings
from schemas.space import Space
from tests.fakes.memory import FakeMemory
from tests.fakes.real_home import said


async def test_every_accepted_turn_is_in_memory_once(tmp_path: Path) -> None:
    console = Console(record=True, width=200)
    wanted = Wanted(bots=4, turns=14, spaces=3, kills=0, pause=0.01)
    outcome = await run_publish(Settings(home=tmp_path, embedder="hash"), wanted, console)
    assert outcome.is_clean
    assert len(set(outcome.told.accepted)) == 14
    assert len(outcome.told.accept) == 14
    assert "accepted=14 refused=0" in console.export_text()


async def test_what_is_not_there_or_there_twice_is_told() -> None:
    memory, space = FakeMemory(), Space("acme/u")
    await memory.publish(space, [said(turn_id, "Hello.", "acme/u") for turn_id in ("a", "b")])
    await memory.run()
    told = Told(accepted=[(space, "a"), (space, "b")])
    assert (await _judged(memory, told, 1.0)).is_clean
    told.accepted.append((space, "lost"))
    memory.kept[space] += [
        row.model_copy(update={"position": 9}) for row in memory.kept[space] if row.row == "outcome"
    ][:1]
    outcome = await _judged(memory, told, 1.0)
    assert (outcome.unlogged, outcome.forgotten, outcome.repeated) == (1, 1, 1)
    assert not outcome.is_clean
    assert not Outcome(Told(refused=["422"]), 1.0, 0, 0, 0).is_clean


def test_quantiles() -> None:
    assert quantile([], 0.99) == 0.0
    assert quantile([float(n) for n in range(100)], 0.5) == 50.0
    assert quantile([float(n) for n in range(100)], 0.99) == 99.0
