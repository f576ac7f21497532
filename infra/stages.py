"""The five stages, wired to their ports."""

from __future__ import annotations

from stages.commit import Commit
from stages.extract_per_view import ExtractPerView
from stages.localize_state import LocalizeState
from stages.normalize import Normalize
from stages.ports import Embedder, History, LanguageModel
from stages.route import Route
from streams.topology import Topology, build


def topology(embedder: Embedder, history: History, max_text: int, language: LanguageModel | None = None) -> Topology:
    """Return the flow with its stages. ``max_text`` is the longest text of a turn, in characters.

    Without ``language`` all stages go by their rules.
    """
    return build(
        Normalize(embedder, history, max_text, language),
        LocalizeState(history),
        ExtractPerView(embedder, history, language),
        Route(history, embedder.model, language),
        Commit(embedder),
    )
