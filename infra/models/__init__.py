"""Encoders behind the ``Embedder`` port. Importing this package imports no deep-learning framework."""

from __future__ import annotations

from infra.models.hash_embedder import HashEmbedder
from infra.models.sentence_transformer import SentenceTransformerEmbedder

__all__ = ["HashEmbedder", "SentenceTransformerEmbedder"]
