"""extract_per_view: what a turn tells, under every active view (AutoViewMem 3.1, rules)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from schemas.control import Passed
from schemas.extracted import Extracted, Item
from schemas.localized import Localized
from schemas.space import Space
from stages.contract import Emit, Stage
from stages.extract_per_view.assign import levels_of, scored_templates, views_of
from stages.extract_per_view.drafted import Drafted
from stages.extract_per_view.items import item, shaped, told_of
from stages.extract_per_view.state import MAX_STATEMENTS, ExtractState, Party, joined
from stages.extract_per_view.structured_kept import listed
from stages.extract_per_view.structured_lister import Lister, Lists
from stages.extract_per_view.views import GENERAL
from stages.ports import Embedder, History, LanguageModel


@dataclass(frozen=True, slots=True)
class ExtractPerView(Stage[Localized | Passed, Extracted | Passed, ExtractState]):
    """Takes items out of turns. Every item quotes its source, and nothing but the turn itself is read."""

    embedder: Embedder
    history: History
    language: LanguageModel | None = None
    drafted: Drafted = field(default_factory=Drafted, init=False, repr=False, compare=False)
    name: ClassVar[str] = "extract_per_view"

    def restore(self, parts: Mapping[str, bytes]) -> ExtractState:
        """Return the state that was cut into ``parts``.

        Raises:
            ValueError: if a part is malformed.
        """
        return ExtractState.from_parts(parts)

    async def prepare(self, messages: Sequence[Localized | Passed]) -> None:
        """Embed the views and the sentences of these turns at once.

        Who takes part is read from the messages themselves, as the state is not known here: in the few cases in which
        that differs from what the state says, ``decide`` embeds the sentence again.
        """
        turns = [message for message in messages if isinstance(message, Localized)]
        parties: dict[Space, tuple[Party, ...]] = {}
        for turn in turns:
            space = turn.header.space
            parties[space] = joined(parties.get(space, ()), turn.normalized.turn.speaker)
        texts = {draft.text for turn in turns for draft in self.drafted.of(turn.normalized, parties[turn.header.space])}
        texts |= {text for turn in turns for text in self._lister.texts(turn.normalized)}
        if texts:
            await self.embedder.embed([*scored_templates(), *sorted(texts)])

    async def decide(self, message: Localized | Passed, state: ExtractState) -> Emit[Extracted | Passed, ExtractState]:
        """Take out what one turn tells; a control event goes by.

        Raises:
            Unavailable: if the embedder does not answer.
        """
        if isinstance(message, Passed):
            return Emit(message, state)
        known = state.with_party(message.normalized.turn.speaker)
        items = await self._items(message, known)
        lists = await self._lister.of(message, known.listed.entries)
        extracted = _extracted(message, items, lists)
        after = known.after(told_of(message, items, MAX_STATEMENTS))
        return Emit(extracted, after.with_listed(message, listed(message, lists.records)))

    @property
    def _lister(self) -> Lister:
        return Lister(self.embedder, self.history)

    async def _items(self, message: Localized, state: ExtractState) -> tuple[Item, ...]:
        found = self.drafted.of(message.normalized, state.parties)
        if not found:
            return ()
        views = await self.embedder.embed(scored_templates())
        vectors = await self.embedder.embed([draft.text for draft in found])
        levels = levels_of(self.embedder.model)
        shapes = [
            shaped(message, draft, views_of(draft, vector, views, levels), state.told.entries, state.parties)
            for draft, vector in zip(found, vectors, strict=True)
        ]
        texts = [shape.text for shape in shapes]
        final = await self.embedder.embed(texts) if texts != [draft.text for draft in found] else vectors
        return tuple(item(message, shape, vector) for shape, vector in zip(shapes, final, strict=True))


def _extracted(message: Localized, items: tuple[Item, ...], lists: Lists) -> Extracted:
    return Extracted(
        header=message.header,
        localized=message,
        items=items,
        view_set=GENERAL.version,
        structured=lists.records,
        more_structured=lists.more,
    )
