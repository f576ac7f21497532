"""What a worker's stage stands on."""

from __future__ import annotations

from dataclasses import dataclass

from stages.ports import IndexWriter
from streams.effects import Gate
from streams.topology import Topology


@dataclass(frozen=True, slots=True)
class Plane:
    """The stages with their ports, the sink of the last one, and admission."""

    stages: Topology
    index: IndexWriter
    gate: Gate
