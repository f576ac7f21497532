"""A channel of two hundred speakers whose turns all have twelve items and long ids, for the bounds of states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schemas.extracted import Extracted
from schemas.localized import Localized
from schemas.space import Space
from schemas.turn import Speaker
from stages.contract import Emit, StageState
from stages.extract_per_view import ExtractPerView, ExtractState
from stages.ports import Filter, Found
from tests.fakes.embedder import DigestEmbedder
from tests.fakes.flow import Flow

TURNS = 1000
SPEAKERS = 200
LIMIT = 64_000
WRITTEN = 4_096 - 1_500
"""Bytes of parts a turn, with the state header's left out."""


@dataclass
class NoHistory:
    """The ``History`` port of an empty memory."""

    async def nearest(self, where: Filter, vectors: Sequence[bytes], limit: int) -> list[list[Found]]:
        return [[] for _ in vectors]

    async def lexical(self, where: Filter, queries: Sequence[Sequence[str]], limit: int) -> list[list[Found]]:
        return [[] for _ in queries]

    async def matching(self, where: Filter, limit: int) -> list[Found]:
        return []

    async def fetch(self, space: Space, as_of: int, record_ids: Sequence[str]) -> list[Found]:
        return []


class _Heard(Flow):
    """A flow that stops before extraction."""

    heard: Localized | None = None

    async def pour(self, localized: Localized) -> Any:
        self.heard = localized
        return ()


Naming = Callable[[str, int], str]
"""From what is named ("turn", "user", "name", "session") and a number to an id or a name."""


def usual(kind: str, number: int) -> str:
    """Return ids of the length of a UUID with a word before it."""
    return f"{kind}-{number:035d}"


def longest(letter: str, length: int = 256) -> Naming:
    """Return names of that many characters."""
    return lambda kind, number: f"{kind} {number} ".ljust(length, letter)


async def localized(turns: int, ids: Naming = usual, sentences: int = 12) -> Iterator[Localized]:
    """Return that many turns: one that was localized once, under ever new ids and speakers."""
    flow = _Heard(embedder=DigestEmbedder())
    await flow.say(" ".join(f"I own {n + 2} red cars in the big City{n} on the coast." for n in range(sentences)))
    first = flow.heard
    assert first is not None
    return (_again(first, position, ids) for position in range(turns))


def _again(first: Localized, position: int, ids: Naming) -> Localized:
    name, who = ids("turn", position), position * 7 % SPEAKERS
    header = first.header.model_copy(update={"position": position, "event_id": name, "offset": position})
    speaker = Speaker(id=ids("user", who), name=ids("name", who))
    turn = first.normalized.turn.model_copy(
        update={"turn_id": name, "speaker": speaker, "session": ids("session", position // 50)}
    )
    normalized = first.normalized.model_copy(update={"header": header, "turn": turn})
    placement = first.placement.model_copy(update={"branch": position // 3, "interaction": position})
    return first.model_copy(update={"header": header, "normalized": normalized, "placement": placement})


async def extracted(turns: int, ids: Naming = usual, sentences: int = 12) -> Iterator[Extracted]:
    """Return that many turns with an item for each sentence."""
    (first,) = await localized(1, sentences=sentences)
    outcome = await ExtractPerView(DigestEmbedder(), NoHistory()).decide(first, ExtractState())
    assert isinstance(outcome, Emit)
    made = outcome.message
    assert isinstance(made, Extracted)
    assert len(made.items) == sentences
    return (_told(made, _again(first, position, ids)) for position in range(turns))


def _told(made: Extracted, localized: Localized) -> Extracted:
    turn = localized.normalized.turn
    items = tuple(
        item.model_copy(
            update={
                "owner": turn.speaker.id,
                "key": item.key.model_copy(update={"owner": turn.speaker.id}),
                "provenance": (turn.turn_id,),
            }
        )
        for item in made.items
    )
    return made.model_copy(update={"header": localized.header, "localized": localized, "items": items})


@dataclass
class Scales:
    """Weighs a state: its bytes without vectors, and those of the parts that a cut after each turn would write.

    Two turns in a row out of five are weighed, since serializing takes longer than deciding.
    """

    before: Mapping[str, bytes] = field(default_factory=dict)
    totals: list[int] = field(default_factory=list)
    written: list[int] = field(default_factory=list)

    def weigh(self, position: int, state: StageState) -> None:
        if position % 5 > 1:
            return
        parts = state.parts()
        plain = {name: data for name, data in parts.items() if not name.startswith("vectors")}
        self.totals.append(sum(len(data) for data in plain.values()))
        if position % 5 == 1:
            self.written.append(sum(len(data) for name, data in plain.items() if self.before.get(name) != data))
        self.before = plain

    def check(self) -> None:
        """Hold the weights to invariant 7: small, flat, and little written a turn."""
        assert max(self.totals) < LIMIT
        third = len(self.totals) // 3
        assert max(self.totals[-third:]) < 1.05 * max(self.totals[third : 2 * third])
        assert sum(self.written) / len(self.written) < WRITTEN
