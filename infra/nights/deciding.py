"""What decides a night: the stage of that name, with the models that the stages of the memory have."""

from __future__ import annotations

from infra.nights.api import Decider
from stages.consolidate import Consolidate
from stages.ports import Embedder, LanguageModel


def decider_of(embedder: Embedder, language: LanguageModel | None) -> Decider:
    """Return what decides. Its thresholds belong to the encoder, so that must be the one of the stages."""
    return Consolidate(embedder, language)
