"""``bench replay``: what it builds and reads with, and a verdict that sees what is wrong.

That a reindex under traffic loses nothing is tests/kafka/test_reindex_commands.py; this benchmark is its long form.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from infra.bench.replay_run import Outcome, Wanted, _settings
from infra.settings import Settings


def test_a_new_index_is_read_with_its_embedder_and_a_new_generation_by_its_number() -> None:
    live = Settings(embedder="hash")
    building, reading = _settings(live, Wanted("hash:512", Path("qdrant")))
    assert (building.embedder, reading.embedder, reading.generation) == ("hash:512", "hash:512", 1)
    building, reading = _settings(live, Wanted(None, Path("qdrant")))
    assert (building, reading.embedder, reading.generation) == (live, "hash", 2)


@pytest.mark.parametrize("fault", [{"failed": ["503"]}, {"unlike": 1}, {"left": ["next g2"]}])
def test_whatever_is_wrong_is_not_clean(fault: dict[str, Any]) -> None:
    assert Outcome().is_clean
    assert not Outcome(**fault).is_clean
