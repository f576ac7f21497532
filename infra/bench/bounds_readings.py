"""What is read off a home and a process: state, what cuts write of it, files, memory in use."""

from __future__ import annotations

import resource
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from infra.memory_api import StageStatus
from streams.effects import Cut

LIMIT = 64 * 1024
"""Bytes of a stage's state in a space, vectors apart (invariant 7)."""

WRITTEN = 4096
"""Bytes of state that a turn may write on average, vectors apart (invariant 7)."""

_BLOCK = 512
_STATUS = Path("/proc/self/status")


@dataclass(slots=True)
class Written:
    """The bytes of state that cuts wrote, headers among them, by stage: ``plain`` without vectors, and vectors."""

    plain: Counter[str] = field(default_factory=Counter)
    vectors: Counter[str] = field(default_factory=Counter)

    def cut(self, cut: Cut) -> None:
        """Count what a cut wrote."""
        for row in cut.state:
            kind = self.vectors if row.part.startswith("vectors") else self.plain
            kind[cut.stage] += len(row.data)


@dataclass(frozen=True, slots=True)
class Reading:
    """A dialogue after ``turns`` turns.

    ``alone`` is what the last turns wrote, told one by one, and ``together`` what those before them wrote, each by
    stage and turn; ``alone_ms`` and ``together_ms`` are milliseconds a turn of the same. ``journal`` and ``index`` are
    bytes on the disk, ``resident`` those of the process.
    """

    turns: int
    stages: tuple[StageStatus, ...]
    alone: dict[str, float]
    together: dict[str, float]
    alone_ms: float
    together_ms: float
    journal: int
    index: int
    resident: int
    lettered: int


def on_disk(*paths: Path) -> int:
    """Return the bytes that files, and those of folders, take on the disk: what is reserved but empty takes none."""
    files = [file for path in paths for file in (path.rglob("*") if path.is_dir() else [path])]
    return sum(file.stat().st_blocks * _BLOCK for file in files if file.is_file())


def resident() -> int:
    """Return the bytes of memory that the process holds; where the system does not say, the most it ever held."""
    if _STATUS.exists():
        line = next(line for line in _STATUS.read_text().splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
