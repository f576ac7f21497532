"""Chunks read under the active views: by a model, and by rules where its answer is of no use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from typing import Final

from schemas.extracted import Item
from schemas.localized import Localized
from schemas.memory import ITEM_KINDS, RecordKind
from schemas.view import ViewSet
from stages.contract import WINDOW
from stages.extract_per_view.asked import all_asked
from stages.extract_per_view.assign import MAX_VIEWS
from stages.extract_per_view.chunks import Chunk
from stages.extract_per_view.drafts import drafts, hearing
from stages.extract_per_view.grounded import Grounded, check, standing
from stages.extract_per_view.items import Shaped, item
from stages.extract_per_view.ruled import ruled
from stages.extract_per_view.shown import Shown, part
from stages.extract_per_view.state import ExtractState
from stages.extract_per_view.taken import quoted, shaped_by_model, slots_of
from stages.ports import Embedder, Filter, Found, History, LanguageModel
from stages.text.spoken import spoken

KNOWN: Final = 6
"""Remembered items that a request shows for a chunk, the nearest."""

_KINDS: Final[frozenset[RecordKind]] = frozenset(ITEM_KINDS)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a chunk told. ``refused`` counts items that had no room."""

    items: tuple[Item, ...] = ()
    refused: int = 0


@dataclass(frozen=True, slots=True)
class _Made:
    """An item before its text is embedded: by a model (``grounded``) or by rules."""

    turn: Localized
    shape: Shaped
    grounded: Grounded | None = None


@dataclass(frozen=True, slots=True)
class Heard:
    """What stands of a model's answers about chunks that were asked for together; ``version`` is that of the views.

    ``refused`` counts what the model said that is not so, ``partial`` says that an answer was of no use.
    """

    items: tuple[tuple[Grounded, ...], ...] = ()
    version: int = 0
    refused: int = 0
    partial: bool = False


@dataclass(frozen=True, slots=True)
class ChunkReader:
    """Reads chunks with the event at ``position``. ``apart``: a request for each view (an ablation)."""

    embedder: Embedder
    history: History
    language: LanguageModel
    apart: bool
    position: int

    async def ask(self, chunks: Sequence[Chunk], views: ViewSet, state: ExtractState) -> Heard:
        """Ask about chunks, none of them suspect, in one request.

        Raises:
            Unavailable: if a model or the index does not answer.
        """
        if not chunks:
            return Heard()
        shown = await self._shown(chunks, views, state)
        answers = await all_asked(self.language.ask(one.request(partial(check, one))) for one in shown)
        told = [standing(one, answer) for one, answer in zip(shown, answers, strict=True) if answer is not None]
        refused = sum(one.refused for one in told)
        return Heard(tuple(one.items for one in told), views.version, refused, len(told) < len(shown))

    async def read(self, chunk: Chunk, heard: Heard, state: ExtractState, most: int) -> Reading:
        """Return what a chunk tells, at most ``most`` items; by rules alone where it is suspect or no answer stands.

        Raises:
            Unavailable: if a model does not answer.
        """
        if chunk.suspect or not heard.items:
            made = await self._by_rules(chunk.turns, state)
            return await self._finished(made, 0, most, degraded=not chunk.suspect)
        own = {turn.header.position for turn in chunk.turns}
        told = [[one for one in each if one.turn.header.position in own] for each in heard.items]
        made = [
            _Made(one.turn, shaped_by_model(one, state.told.entries, state.parties), one)
            for one in _merged(_in_turn(told))
        ]
        made += await self._by_rules(chunk.turns, state, unseen=True)
        return await self._finished(made, heard.version, most)

    async def _shown(self, chunks: Sequence[Chunk], views: ViewSet, state: ExtractState) -> list[Shown]:
        known = [one for chunk in chunks for one in await self._known(chunk)]
        once = tuple({one.record.id: one for one in known}.values())
        sets = [(view,) for view in views.views] if self.apart else [views.views]
        people = tuple(party.label for party in state.parties)
        return [Shown(tuple(chunks), own, once, people) for own in sets]

    async def _known(self, chunk: Chunk) -> tuple[Found, ...]:
        """Return the nearest items of memory as of W events ago, best first: none that are guesses or suspect."""
        as_of = self.position - WINDOW
        if as_of < 0:
            return ()
        where = Filter(chunk.turns[0].header.space, as_of, _KINDS)
        runs = await self.history.nearest(where, await self._vectors(chunk), KNOWN)
        best = {one.record.id: one for run in runs for one in run if _told_plainly(one)}
        return tuple(sorted(best.values(), key=lambda one: (-one.score, one.record.id)))[:KNOWN]

    async def _vectors(self, chunk: Chunk) -> list[bytes]:
        """Return a vector for each turn: of its first piece, which was embedded before, be it kept or not."""
        found = [turn.normalized.pieces[0].vector for turn in chunk.turns]
        lacking = [turn for turn in chunk.turns if not turn.normalized.pieces[0].vector]
        made = (
            await self.embedder.embed([spoken(turn.normalized.turn.speaker, turn.normalized.text) for turn in lacking])
            if lacking
            else []
        )
        return [*made, *(vector for vector in found if vector)]

    async def _by_rules(self, turns: Iterable[Localized], state: ExtractState, *, unseen: bool = False) -> list[_Made]:
        """Return what rules take out of turns; ``unseen``: only of what a request had no room for."""
        found: list[_Made] = []
        for turn in turns:
            normalized = turn.normalized
            seen = len(part(normalized.text)) if unseen else 0
            if unseen and seen == len(normalized.text):
                continue
            own = [one for one in drafts(normalized, hearing(normalized, state.parties)) if one.span.start >= seen]
            vectors = await self.embedder.embed([draft.text for draft in own]) if own else []
            found += [_Made(turn, shape) for shape in await ruled(self.embedder, turn, own, vectors, state)]
        return found

    async def _finished(self, made: Sequence[_Made], version: int, most: int, *, degraded: bool = False) -> Reading:
        """Return the first ``most`` as items, and how many there was no room for."""
        chosen = made[:most]
        vectors = await self.embedder.embed([one.shape.text for one in chosen]) if chosen else []
        pairs = zip(chosen, vectors, strict=True)
        items = tuple(self._item(one, vector, version, degraded=degraded) for one, vector in pairs)
        return Reading(items, len(made) - len(chosen))

    def _item(self, one: _Made, vector: bytes, version: int, *, degraded: bool) -> Item:
        made = item(one.turn, one.shape, vector)
        earlier = one.turn.header.position != self.position
        more: dict[str, object] = {"quoted": quoted(one.turn) if earlier else None, "degraded": degraded}
        if one.grounded is not None:
            more |= {"view_set": version, "slots": slots_of(one.grounded, made)}
            more["provenance"] = tuple(dict.fromkeys((*made.provenance, *one.grounded.rests)))
            if one.grounded.said.tentative:
                more |= {"rests_on": one.grounded.quote, "suggested_by": one.grounded.suggested_by, "changes": False}
        return made.model_copy(update=more)


def _told_plainly(one: Found) -> bool:
    return one.changed is None and not one.record.suspect and one.record.rests_on is None


def _in_turn(answers: Sequence[Sequence[Grounded]]) -> Iterator[Grounded]:
    """Yield the first item of each answer, then the second: where room ends, it ends for all views alike."""
    for row in zip_longest(*answers):
        yield from (one for one in row if one is not None)


def _merged(found: Iterable[Grounded]) -> list[Grounded]:
    """Return items with one for each text of a turn, with the tags of all; what is said wins over what is guessed."""
    kept: dict[tuple[int, str], Grounded] = {}
    for one in sorted(found, key=lambda one: one.said.tentative):  # stable: each sort in the order of the answers
        name = one.turn.header.position, " ".join(one.said.text.casefold().split())
        known = kept.get(name)
        views = one.views if known is None else tuple({view.id: view for view in (*known.views, *one.views)}.values())
        kept[name] = replace(one if known is None else known, views=views[:MAX_VIEWS])
    return list(kept.values())
