"""The index on Qdrant. ``EdgeIndex`` runs the real engine in process; it serves stages, recall and the sink."""

from infra.qdrant.edge import EdgeIndex
from infra.qdrant.folder import IndexInUseError, IndexMismatchError
from infra.qdrant.health import lacking, reached, writes_and_reads

__all__ = ["EdgeIndex", "IndexInUseError", "IndexMismatchError", "lacking", "reached", "writes_and_reads"]
