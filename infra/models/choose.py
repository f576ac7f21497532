"""From the setting to an embedder."""

from __future__ import annotations

from infra.errors import UsageError
from infra.models.hash_embedder import HashEmbedder
from infra.models.sentence_transformer import SentenceTransformerEmbedder


def make_embedder(choice: str, *, threads: int | None = None) -> HashEmbedder | SentenceTransformerEmbedder:
    """Build what ``ANABRANCH_EMBEDDER`` names: ``hash`` or ``sentence-transformers:NAME_OR_FOLDER``.

    Raises:
        UsageError: if the form is another.
        ModelMissing: if the model is not here and cannot be fetched.
    """
    kind, _, name = choice.partition(":")
    if choice == "hash":
        return HashEmbedder()
    if kind == "sentence-transformers" and name:
        return SentenceTransformerEmbedder(name, threads=threads)
    msg = f"no embedder is called {choice!r}: set ANABRANCH_EMBEDDER to sentence-transformers:NAME_OR_FOLDER or hash"
    raise UsageError(msg)
