"""A whole installation under faults: nothing lost, nothing out of order, and the memory of the embedded mode.

Small here; ``make chaos`` runs it large, with freezes beyond the session and the broker killed.
"""

from __future__ import annotations

import asyncio
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from infra.bench.kafka.load import Load
from infra.bench.kafka_run import Outcome, Wanted, run_kafka
from infra.settings import Settings
from tests.fakes.qdrant_server import MISSING, binary


def ran(tmp_path: Path, wanted: Wanted) -> Outcome:
    settings = Settings(home=tmp_path / "home", embedder="hash")
    said = StringIO()
    outcome = asyncio.run(run_kafka(settings, wanted, Console(file=said)))
    print(said.getvalue())  # noqa: T201 - shown if the test fails
    return outcome


def test_the_runtime_loses_nothing_whoever_dies_joins_or_leaves(tmp_path: Path) -> None:
    """Stages that do nothing, so that most of what happens is the runtime's."""
    wanted = Wanted(Load(900, 30), rate=90, workers={"route": 2}, faults=("kill", "kill", "join", "leave"), alike=True)
    outcome = ran(tmp_path, wanted)
    assert outcome.verdict.is_clean, str(outcome.verdict)
    assert (outcome.unlike, outcome.unlike_states) == (0, 0)


def test_the_real_chain_makes_the_memory_of_the_embedded_mode_though_workers_die(tmp_path: Path) -> None:
    server = binary()
    if server is None:
        pytest.skip(MISSING)
    wanted = Wanted(Load(240, 3), rate=24, faults=("kill", "index"), qdrant=server, alike=True)
    outcome = ran(tmp_path, wanted)
    assert outcome.verdict.is_clean, str(outcome.verdict)
    assert (outcome.unlike, outcome.unlike_states) == (0, 0)
