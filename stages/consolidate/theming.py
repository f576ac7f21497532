"""Pass 2 of a night: topics and personas from what memory holds now (AdaMem B.4; mechanics, consolidate 2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from schemas.memory import RecordKind
from schemas.space import Space
from stages.consolidate.grouping import MOST_SHOWN, Grouped, Grouping, portrait
from stages.consolidate.limits import Limits
from stages.consolidate.linking import mutual, nearest
from stages.consolidate.nodes import Node, nodes, settled
from stages.consolidate.persona import Side, aspects, preference, reasons
from stages.consolidate.plan import Live, Plan
from stages.consolidate.topics import Theme, apart_by_name, theme_of, topic_record
from stages.consolidate.versions import Wanted, decisions
from stages.ports import Embedder, LanguageModel


@dataclass(slots=True)
class Theming:
    """One pass over a space. ``degraded`` counts answers of no use."""

    space: Space
    embedder: Embedder
    language: LanguageModel | None
    limits: Limits
    degraded: int = 0

    async def plan(self, live: Sequence[Live]) -> Plan:
        """Return what topics and personas there are to write, and which of the old ones are over.

        Raises:
            Unavailable: if the model or the encoder does not answer.
        """
        why = reasons(one.row for one in live if one.row.kind is RecordKind.TURN)
        topics: list[Theme] = []
        sides: list[Side] = []
        for found in nodes(settled(live)).values():
            themes = apart_by_name(await self._themes(found))
            topics += themes
            told = (preference(theme, why) for theme in themes)
            sides += [side for side in (*told, *aspects(found)) if side is not None]
        sides = [await self._portrayed(side) for side in sides]
        return Plan(decisions((*_topics(topics), *_personas(sides)), live), degraded=self.degraded)

    async def _themes(self, found: Sequence[Node]) -> list[Theme]:
        """Return the themes of one owner."""
        vectors = await self.embedder.embed([node.text for node in found])
        if self.language is None:
            return list(self._by_rules(found, vectors))
        made: list[Theme] = []
        parts = nearest(vectors, self.limits.theme)
        for shown in (part[at : at + MOST_SHOWN] for part in parts for at in range(0, len(part), MOST_SHOWN)):
            made += await self._by_model([found[at] for at in shown], [vectors[at] for at in shown], self.language)
        alone = set(range(len(found))) - {at for part in parts for at in part}
        made += (theme for at in sorted(alone) if (theme := theme_of([found[at]])) is not None)
        return made

    def _by_rules(self, found: Sequence[Node], vectors: Sequence[bytes]) -> Iterator[Theme]:
        for group in mutual(vectors, [node.stems for node in found], self.limits.theme):
            theme = theme_of([found[at] for at in group])
            if theme is not None:
                yield theme

    async def _by_model(
        self, found: Sequence[Node], vectors: Sequence[bytes], language: LanguageModel
    ) -> Iterable[Theme]:
        grouping = Grouping(found)
        answer = await language.ask(grouping.request(self.space))
        if answer is None:
            self.degraded += 1
            return list(self._by_rules(found, vectors))
        return [_theme(one) for one in grouping.standing(answer)]

    async def _portrayed(self, side: Side) -> Side:
        """Return a persona with the words of a model, where there is one and they stand."""
        if self.language is None:
            return side
        request, standing = portrait(self.space, side)
        answer = await self.language.ask(request)
        self.degraded += answer is None
        return side if answer is None else replace(side, head="", text=standing(answer))


def _theme(one: Grouped) -> Theme:
    return Theme(one.rows[0].owner or "", one.name, one.rows, one.text)


def _topics(themes: Iterable[Theme]) -> Iterator[Wanted]:
    for theme in sorted(themes, key=lambda one: (one.owner, one.name)):
        yield Wanted(topic_record(theme), theme.rows, f"one theme: {theme.name}")


def _personas(sides: Iterable[Side]) -> Iterator[Wanted]:
    for side in sorted(sides, key=lambda one: (one.owner, one.name)):
        yield Wanted(side.record(), side.rows, f"several turns speak of it: {side.name}")
