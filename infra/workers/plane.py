"""What a worker's stage stands on."""

from __future__ import annotations

from dataclasses import dataclass, field

from stages.ports import IndexWriter
from streams.effects import Gate
from streams.kafka.results import TopicResults
from streams.metrics import ModelCounts
from streams.topology import Topology


@dataclass(frozen=True, slots=True)
class Plane:
    """The stages with their ports, the sink of the last one, and admission.

    ``results`` keeps the answers of a language model, if there is one; ``models`` counts what it is asked.
    """

    stages: Topology
    index: IndexWriter
    gate: Gate
    results: TopicResults | None = None
    models: ModelCounts = field(default_factory=ModelCounts)
