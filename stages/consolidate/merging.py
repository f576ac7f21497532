"""Pass 1 of a night: what says the same becomes one record (AutoViewMem 3.2; mechanics, consolidate 1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from schemas.consolidation import MAX_SOURCES, Act, Decision
from schemas.memory import RecordKind, RecordRow
from schemas.space import Space
from stages.consolidate.apart import ALIKE, near, told, twins
from stages.consolidate.asking import Answer, Sheet, reason_apart
from stages.consolidate.by_rules import contained, exact
from stages.consolidate.contents import in_order, named, place, united
from stages.consolidate.graph import Edge, closest, clusters, edges, holding
from stages.consolidate.limits import Limits
from stages.consolidate.plan import Apart, Live, Plan
from stages.consolidate.terms import terms
from stages.consolidate.units import Unit, as_told, group_of, statements
from stages.pausing import pausing
from stages.ports import Embedder, LanguageModel

_PAIR = 2


@dataclass(slots=True)
class Merging:
    """One pass over a space. ``most`` bounds what it retires; ``degraded`` counts answers of no use."""

    space: Space
    embedder: Embedder
    language: LanguageModel | None
    limits: Limits
    most: int
    apart: list[Apart] = field(default_factory=list)
    degraded: int = 0
    left: int = 0
    known: dict[str, bytes] = field(default_factory=dict)

    async def plan(self, live: Iterable[Live]) -> Plan:
        """Return what is to be merged.

        Raises:
            Unavailable: if the model or the encoder does not answer.
        """
        rows = statements(live)
        found = [await exact(group) async for group in pausing(by_group(rows))]
        await self._vectors([unit for units in found if _is_compared(units) for unit in units])
        done: list[Unit] = []
        for units in found:
            done += await self._group(units, _retired(done))
        decisions = tuple(self._bounded(sorted(done, key=lambda unit: place(unit.rows[0]))))
        same = await twins(unit for units in found for unit in units)
        return Plan(decisions, (*same, *near(self.apart)), self.degraded, self.left)

    async def _group(self, units: list[Unit], retired: int) -> list[Unit]:
        """Return the units of one group as they are after it; what the bound leaves no room for is left alone."""
        if not _is_compared(units):
            return units
        if self.language is not None:
            return await self._by_model(units, retired, self.language)
        vectors = await self._vectors(units)
        after = contained(units, holding(vectors, self.limits.merge, [unit.words for unit in units]))
        await self._note(after)
        return after

    async def _by_model(self, units: list[Unit], retired: int, language: LanguageModel) -> list[Unit]:
        """Ask of each cluster until nothing new comes of it, so that another night finds nothing to do."""
        units = sorted(units, key=as_told)
        asked = set[tuple[str, ...]]()
        while True:
            found = edges(await self._vectors(units), self.limits.merge)
            parts = clusters(len(units), found, self.limits.merge)
            new = [part for part in parts if tuple(units[at].text for at in part) not in asked]
            if not new:
                await self._note(units)
                return units
            made: list[Unit] = []
            for part in new:
                if retired + _retired([*units, *made]) >= self.most:
                    self.left += 1
                    made += (units[at] for at in part)
                else:
                    made += await self._judged([units[at] for at in part], _within(found, part), language)
                asked.add(tuple(units[at].text for at in part))
            taken = {at for part in new for at in part}
            rest = (unit for at, unit in enumerate(units) if at not in taken)
            units = sorted((*made, *rest), key=as_told)

    async def _judged(self, units: list[Unit], found: list[Edge], language: LanguageModel) -> list[Unit]:
        """Return the units of a cluster as the model has them, as far as that stands; the rest by rules."""
        sheet = Sheet(units)
        answer = await language.ask(sheet.request(self.space))
        if answer is None:
            self.degraded += 1
            return contained(units, found)
        return self._followed(sheet, answer, found)

    def _followed(self, sheet: Sheet, answer: Answer, found: list[Edge]) -> list[Unit]:
        made: list[Unit] = []
        taken = set[int]()
        for one, refusal in sheet.standing(answer):
            numbers = [number - 1 for number in one.members]
            units = sheet.of(one)
            taken |= set(numbers)
            if refusal is None:
                kept = max(units, key=lambda unit: (len(unit.terms), place(unit.kept)))
                others = (unit for unit in units if unit is not kept)
                made.append(kept.with_(others, one.text, one.case.value))
            else:
                self.apart.append(told(units, f"refused to the model: {refusal}"))
                made += contained(units, _within(found, numbers))
        return [*made, *(unit for at, unit in enumerate(sheet.units) if at not in taken)]

    async def _vectors(self, units: Sequence[Unit]) -> list[bytes]:
        """Return the vectors of units; each text is asked for once, and most of a space's at the same time."""
        new = [text for text in dict.fromkeys(unit.text for unit in units) if text not in self.known]
        if new:
            self.known.update(zip(new, await self.embedder.embed(new), strict=True))
        return [self.known[unit.text] for unit in units]

    async def _note(self, units: Sequence[Unit]) -> None:
        """Remember of those that stay apart each with its nearest."""
        for edge in closest(await self._vectors(units), ALIKE):
            left, right = units[edge.one], units[edge.other]
            reason = reason_apart(left, right) or "each says something that the other does not"
            self.apart.append(told((left, right), reason, edge.score))

    def _bounded(self, units: Iterable[Unit]) -> Iterator[Decision]:
        """Yield the decisions, as long as no more than ``most`` records leave."""
        room = self.most
        for unit in units:
            most = min(MAX_SOURCES, self.most)
            if len(unit.rows) < _PAIR:
                continue
            rows, text = (unit.rows, unit.text) if len(unit.rows) <= most else _first(unit, most)
            self.left += len(rows) < len(unit.rows) or len(rows) > room
            if _PAIR <= len(rows) <= room:
                room -= len(rows)
                yield _decision(unit, rows, text)


def _is_compared(units: Sequence[Unit]) -> bool:
    """Tell whether a group is looked at by sense: lists are one only where they are the same."""
    return len(units) >= _PAIR and units[0].kept.kind is not RecordKind.STRUCTURED


def _first(unit: Unit, most: int) -> tuple[tuple[RecordRow, ...], str]:
    """Return so many records of a unit as one decision may name; of a rewrite those that say what it kept."""
    of_rewrite = unit.text != unit.kept.text
    same = [row for row in unit.rows if row is not unit.kept and not (of_rewrite and row.text != unit.kept.text)]
    return tuple(in_order([unit.kept, *same[: most - 1]])), unit.kept.text


def _decision(unit: Unit, rows: Sequence[RecordRow], text: str) -> Decision:
    is_same = len({tuple(term.text for term in terms(row.text)) for row in rows}) == 1
    return Decision(
        act=Act.DUPLICATE if is_same and text == unit.kept.text else Act.MERGE,
        sources=named(rows, retired=True),
        records=(united(rows, unit.kept, text),),
        reason=unit.why,
    )


def by_group(rows: Iterable[RecordRow]) -> list[list[RecordRow]]:
    """Return records by what those have in common that may become one."""
    found: dict[Hashable, list[RecordRow]] = defaultdict(list)
    for row in rows:
        found[group_of(row)].append(row)
    return list(found.values())


def _retired(units: Iterable[Unit]) -> int:
    return sum(len(unit.rows) for unit in units if len(unit.rows) > 1)


def _within(found: Iterable[Edge], nodes: Sequence[int]) -> list[Edge]:
    """Return the edges between some nodes, which are counted anew."""
    number = {node: at for at, node in enumerate(nodes)}
    inside = ((edge, number.get(edge.one), number.get(edge.other)) for edge in found)
    return [Edge(one, other, edge.score) for edge, one, other in inside if one is not None and other is not None]
