"""extract_per_view: what turns tell, under every active view (AutoViewMem 3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from schemas.consolidation import Consolidation
from schemas.control import Drain, Passed
from schemas.extracted import Extracted, Item
from schemas.localized import Localized
from schemas.space import Space
from stages.contract import Emit, Stage
from stages.extract_per_view.assign import scored_templates
from stages.extract_per_view.by_model import by_model, drained
from stages.extract_per_view.drafted import Drafted
from stages.extract_per_view.items import item, told_of
from stages.extract_per_view.reading import ChunkReader
from stages.extract_per_view.ruled import ruled
from stages.extract_per_view.sets import Choice
from stages.extract_per_view.state import MAX_STATEMENTS, ExtractState, Party, joined
from stages.extract_per_view.structured_kept import listed
from stages.extract_per_view.structured_lister import Lister, Lists
from stages.extract_per_view.views import GENERAL
from stages.ports import Embedder, History, LanguageModel
from stages.text.spoken import has_vector, searched


@dataclass(frozen=True, slots=True)
class ExtractPerView(Stage[Localized | Passed, Extracted | Passed, ExtractState]):
    """Takes items out of turns. Every item quotes its source, and nothing but what was said is read.

    Without ``language`` each turn is read by rules as it comes. With one a chunk is read when it closes; ``choice``
    says how a space comes by its views, ``apart`` makes a request for each view.
    """

    embedder: Embedder
    history: History
    language: LanguageModel | None = None
    choice: Choice = Choice.AUTO
    apart: bool = False
    drafted: Drafted = field(default_factory=Drafted, init=False, repr=False, compare=False)
    name: ClassVar[str] = "extract_per_view"

    def restore(self, parts: Mapping[str, bytes]) -> ExtractState:
        """Return the state that was cut into ``parts``.

        Raises:
            ValueError: if a part is malformed.
        """
        return ExtractState.from_parts(parts)

    async def prepare(self, messages: Sequence[Localized | Passed]) -> None:
        """Embed the views and the sentences of these turns at once; a model's words are not known before it is asked.

        Who takes part is read from the messages themselves, as the state is not known here: in the few cases in which
        that differs from what the state says, ``decide`` embeds the sentence again.
        """
        turns = [message for message in messages if isinstance(message, Localized) and self.language is None]
        parties: dict[Space, tuple[Party, ...]] = {}
        for turn in turns:
            space = turn.header.space
            parties[space] = joined(parties.get(space, ()), turn.normalized.turn.speaker)
        texts = {draft.text for turn in turns for draft in self.drafted.of(turn.normalized, parties[turn.header.space])}
        texts |= {text for turn in turns for text in self._lister.texts(turn.normalized)}
        texts |= {text for message in messages if isinstance(message, Passed) for text in _brought(message)}
        if texts:
            await self.embedder.embed([*scored_templates(), *sorted(texts)])

    async def decide(self, message: Localized | Passed, state: ExtractState) -> Emit[Extracted | Passed, ExtractState]:
        """Take out what one turn tells, or the chunks read with it.

        Of control events a drain takes what waited with it, a consolidation the vectors of its texts.

        Raises:
            Unavailable: if a model or the index does not answer.
        """
        if isinstance(message, Passed):
            return await self._passed(message, state)
        known = state.with_party(message.normalized.turn.speaker)
        lists = await self._lister.of(message, known.listed.entries)
        listing = known.with_listed(message, listed(message, lists.records))
        if self.language is not None:
            return await by_model(self._reader(self.language, message), message, listing, self.choice, lists)
        items = await self._items(message, known)
        return Emit(_extracted(message, items, lists), listing.after(told_of(message, items, MAX_STATEMENTS)))

    async def _passed(self, message: Passed, state: ExtractState) -> Emit[Extracted | Passed, ExtractState]:
        body = message.control.body
        if self.language is None or not isinstance(body, Drain):
            return Emit(await self._embedded(message), state)
        return await drained(self._reader(self.language, message), message, body.participant, state, self.choice)

    def _reader(self, language: LanguageModel, message: Localized | Passed) -> ChunkReader:
        return ChunkReader(self.embedder, self.history, language, self.apart, message.header.position)

    async def _embedded(self, message: Passed) -> Passed:
        texts = _brought(message)
        vectors = await self.embedder.embed(texts) if texts else []
        return message.model_copy(update={"vectors": tuple(vectors)}) if texts else message

    @property
    def _lister(self) -> Lister:
        return Lister(self.embedder, self.history)

    async def _items(self, message: Localized, state: ExtractState) -> tuple[Item, ...]:
        found = self.drafted.of(message.normalized, state.parties)
        if not found:
            return ()
        texts = [draft.text for draft in found]
        vectors = await self.embedder.embed(texts)
        shapes = await ruled(self.embedder, message, found, vectors, state)
        shaped = [shape.text for shape in shapes]
        final = await self.embedder.embed(shaped) if shaped != texts else vectors
        return tuple(item(message, shape, vector) for shape, vector in zip(shapes, final, strict=True))


def _brought(message: Passed) -> list[str]:
    """Return the texts that a control event brings into memory and that are searched by their sense, in order."""
    body = message.control.body
    return [searched(one) for one in body.records if has_vector(one)] if isinstance(body, Consolidation) else []


def _extracted(message: Localized, items: tuple[Item, ...], lists: Lists) -> Extracted:
    return Extracted(
        header=message.header,
        localized=message,
        items=items,
        view_set=GENERAL.version,
        structured=lists.records,
        more_structured=lists.more,
    )
