"""Encoders behind the ``Embedder`` port. Importing this package imports no deep-learning framework."""

from __future__ import annotations

from infra.models.choose import Made, make_embedder
from infra.models.hash_embedder import HashEmbedder
from infra.models.sentence_transformer import SentenceTransformerEmbedder

__all__ = ["HashEmbedder", "Made", "SentenceTransformerEmbedder", "make_embedder"]
