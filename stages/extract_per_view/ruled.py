"""Items by rules: the drafts of a turn under the general views, whose levels were calibrated."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.localized import Localized
from stages.extract_per_view.assign import levels_of, scored_templates, views_of
from stages.extract_per_view.drafts import Draft
from stages.extract_per_view.items import Shaped, shaped
from stages.extract_per_view.state import ExtractState
from stages.ports import Embedder


async def ruled(
    embedder: Embedder, localized: Localized, found: Sequence[Draft], vectors: Sequence[bytes], state: ExtractState
) -> list[Shaped]:
    """Return what the drafts of a turn are about; ``vectors`` are those of their texts.

    Raises:
        Unavailable: if the embedder does not answer.
    """
    views = await embedder.embed(scored_templates())
    levels = levels_of(embedder.model)
    return [
        shaped(localized, draft, views_of(draft, vector, views, levels), state.told.entries, state.parties)
        for draft, vector in zip(found, vectors, strict=True)
    ]
