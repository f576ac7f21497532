"""The five stages, wired to their ports."""

from __future__ import annotations

from infra.settings import Settings
from stages.commit import Commit
from stages.extract_per_view import Choice, ExtractPerView
from stages.localize_state import LocalizeState
from stages.normalize import Normalize
from stages.ports import Embedder, History, LanguageModel
from stages.route import Route
from streams.topology import Topology, build


def topology_of(settings: Settings, embedder: Embedder, history: History, language: LanguageModel | None) -> Topology:
    """Return the flow as the settings want it."""
    apart = settings.view_requests == "each"
    return topology(embedder, history, settings.max_text, language, views=settings.views, apart=apart)


def topology(
    embedder: Embedder,
    history: History,
    max_text: int,
    language: LanguageModel | None = None,
    *,
    views: str = "auto",
    apart: bool = False,
) -> Topology:
    """Return the flow with its stages. ``max_text`` is the longest text of a turn, in characters.

    Without ``language`` all stages go by their rules. ``views`` says how a space comes by its views, ``apart`` asks for
    each of them in a request of its own.
    """
    return build(
        Normalize(embedder, history, max_text, language),
        LocalizeState(history),
        ExtractPerView(embedder, history, language, Choice(views), apart),
        Route(history, embedder.model, language),
        Commit(embedder),
    )
