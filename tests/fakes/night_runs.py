"""A night over a home: a decider that merges what is said in the same words, and traffic that comes in between."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from infra.bootstrap import open_embedded
from infra.memory_api import Progress
from infra.models import HashEmbedder
from infra.nights.api import Ground, Told, Wish
from infra.nights.embedded import EmbeddedGround
from infra.nights.night import consolidate
from infra.settings import Settings
from schemas.consolidation import Act, Decision, Named
from schemas.memory import ITEM_KINDS, RecordContent, RecordKind, RecordRow
from schemas.space import Space
from stages.consolidate import Live, Plan
from stages.ports import Embedder, LanguageModel
from stages.stored import text_hash
from streams.journal import Journal

NIGHT = datetime(2026, 4, 1, 3, tzinfo=UTC)
"""A month after the stories of the tests were told."""


def silent(_progress: Progress) -> None:
    """Show nothing."""


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Decides that items of the same owner in the same words are one; tells no themes. ``seen`` notes the spaces."""

    seen: list[Space] = field(default_factory=list)

    async def merges(self, space: Space, live: Sequence[Live], most: int) -> Plan:
        self.seen.append(space)
        groups: dict[tuple[str, str | None], list[RecordRow]] = {}
        for row in (one.row for one in live if one.row.kind in ITEM_KINDS):
            groups.setdefault((row.text, row.owner), []).append(row)
        decisions = [_one_for(rows) for rows in groups.values() if len(rows) > 1]
        taken: list[Decision] = []
        for decision in decisions:
            if sum(len(one.retired) for one in (*taken, decision)) <= most:
                taken.append(decision)
        return Plan(decisions=tuple(taken), left=len(decisions) - len(taken))

    async def themes(self, space: Space, live: Sequence[Live]) -> Plan:
        return Plan()

    def made(self, _embedder: Embedder, _language: LanguageModel | None) -> Duplicates:
        """Return itself, as what makes a decider does."""
        return self


def _one_for(rows: Sequence[RecordRow]) -> Decision:
    first = rows[0]
    content = {name: getattr(first, name) for name in RecordContent.model_fields}
    content |= {
        "provenance": tuple(dict.fromkeys(turn for row in rows for turn in row.provenance)),
        "stands_for": tuple(row.id for row in rows),
        "occurrences": sum(row.occurrences for row in rows),
        "said_at": first.since if first.said_at is None else first.said_at,
        "run": None,
    }
    sources = tuple(Named(id=row.id, text_hash=text_hash(row.text), retired=True) for row in rows)
    return Decision(
        act=Act.DUPLICATE, sources=sources, records=(RecordContent.model_validate(content),), reason="the same words"
    )


def of_other_code() -> Decision:
    """Return a decision on records that only another version would have made."""
    sources = tuple(Named(id=f"other-{n}", text_hash="other", retired=True) for n in range(2))
    record = RecordContent(
        kind=RecordKind.FACT, text="Mia has a cat.", owner="mia", speaker=None, at=NIGHT, provenance=("t0",)
    )
    return Decision(act=Act.DUPLICATE, sources=sources, records=(record,), reason="the same words")


@dataclass(slots=True)
class Disturbed(EmbeddedGround):
    """A ground where something happens right before decisions come into the log, once."""

    happens: Callable[[Space], Sequence[bytes]] = lambda _space: ()
    _happened: bool = False

    async def publish(self, space: Space, event_ids: Sequence[str], payloads: Sequence[bytes]) -> None:
        if not self._happened and event_ids[0].startswith("consolidate:"):
            self._happened = True
            await self.memory.publish(space, self.happens(space))
        await EmbeddedGround.publish(self, space, event_ids, payloads)


@asynccontextmanager
async def ground_of(home: Path, decider: Duplicates | None = None) -> AsyncIterator[Disturbed]:
    """Open a home for nights, with the hash embedder and the decider above."""
    decider = decider or Duplicates()
    async with open_embedded(Settings(home=home, embedder="hash"), HashEmbedder()) as memory:
        await memory.run()
        yield Disturbed(memory, silent, decider.made)


async def night(ground: Ground, at: datetime = NIGHT, wish: Wish | None = None) -> dict[Space, Told]:
    """Run over what is asked for (all), and return what became of each space."""
    return {told.space: told async for told in consolidate(ground, wish or Wish(), at, silent)}


async def replayed(journal: Journal, home: Path) -> list[str]:
    """Give another home the log of one, and return the rows of all spaces there."""
    async with open_embedded(Settings(home=home, embedder="hash"), HashEmbedder()) as memory:
        for space in journal.spaces():
            for event in journal.whole_log(space):
                memory.journal.append(space, [event.body], own=event.own)
        await memory.run()
        return remembered(memory.journal)


def remembered(journal: Journal) -> list[str]:
    """Return every row of a home, canonical, by space and key."""
    return [row for space in journal.spaces() for row in journal.memory(space)]
