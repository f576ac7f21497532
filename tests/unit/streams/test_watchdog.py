"""A stage that never comes back ends the process, and the third time its record is a letter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from schemas.space import Space
from streams.journal import Journal
from streams.watchdog import HUNG
from tests.fakes.runtime import Home, event

HANGS = """
import asyncio, sys
from pathlib import Path
from streams import embedded
from streams.watchdog import Watchdog
from tests.fakes import runtime, stages

class Hanging(stages.FakeNormalize):
    async def decide(self, message, state):
        while message.header.event_id == "bad":
            pass
        return await super().decide(message, state)

runtime.FakeNormalize = Hanging
embedded.Watchdog = lambda note: Watchdog(note, limit=1, turn=0.1)
asyncio.run(runtime.Home(Path(sys.argv[1])).run())
"""


def test_the_third_hang_at_a_record_is_a_letter(tmp_path: Path) -> None:
    home = Home(tmp_path / "log.sqlite")
    home.publish("acme/u-1", event("acme/u-1", "good"), event("acme/u-1", "bad"), event("acme/u-1", "after"))
    for _ in range(3):
        run = subprocess.run(
            [sys.executable, "-c", HANGS, str(home.path)], capture_output=True, text=True, check=False, timeout=60
        )
        assert run.returncode == HUNG, run.stderr
        assert "normalize did not come back" in run.stderr
    last = subprocess.run([sys.executable, "-c", HANGS, str(home.path)], capture_output=True, check=False, timeout=60)
    assert last.returncode == 0, last.stderr
    (letter,) = Journal(home.path).letters(Space("acme/u-1"))
    assert (letter.turn_id, letter.stage, letter.input_fault) == ("bad", "normalize", False)
    assert "crashed" in letter.reason
    assert len([row for row in home.memory("acme/u-1") if '"state":"committed"' in row]) == 2
