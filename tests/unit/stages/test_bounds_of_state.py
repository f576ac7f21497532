"""Invariant 7 at its worst: two hundred speakers, every id and name as long as it may be, twelve items a turn."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from schemas.consolidation import Consolidation
from schemas.control import Control, Passed
from schemas.extracted import Extracted
from schemas.header import EventKind, Header
from schemas.memory import ITEM_KINDS, RecordRow
from schemas.numbered import Numbered
from schemas.routed import Routed
from stages.commit import Commit
from stages.contract import WINDOW, Emit, Stage
from stages.extract_per_view import ExtractPerView
from stages.localize_state import LocalizeState
from stages.normalize import Normalize
from stages.ports import LanguageModel, Request
from stages.route import Route, RouteState
from stages.route.made import ROOM
from streams.state import EMPTY, Counts, Saved, save
from tests.fakes.busy import Naming, NoHistory, extracted, localized, longest
from tests.fakes.embedder import DigestEmbedder
from tests.fakes.flow import SPACE, START
from tests.fakes.language_model import Scripted
from tests.fakes.nights import duplicate, topic
from tests.fakes.router import Router

LIMIT = 64 * 1024
WRITTEN = 4096
EMOJI = "\U0001f600"


@dataclass
class Home:
    """The state of one stage, saved after every turn that is weighed, as a cut saves it."""

    stage: Stage[Any, Any, Any]
    state: Any
    saved: Saved = EMPTY
    sizes: list[int] = field(default_factory=list)
    written: list[int] = field(default_factory=list)

    async def hear(self, message: Any, *, weighed: bool) -> None:
        outcome = await self.stage.decide(message, self.state)
        assert isinstance(outcome, Emit)
        self.state = outcome.state
        header = message.header
        seen = self.saved.header.seen(header.position, header.position + 1, header.event_id, Counts(emitted=10_000))
        self.saved = Saved(seen, self.saved.parts)
        if weighed:
            self.weigh()

    def weigh(self) -> None:
        """Note the bytes of the state with its header, and those written, both without vectors."""
        self.saved, rows = save(self.saved, self.saved.header, self.state.parts())
        plain = sum(len(name) + len(data) for name, data in self.saved.parts.items() if not name.startswith("vectors"))
        self.sizes.append(plain + len(rows[-1].data))
        self.written.append(sum(len(row.data) for row in rows if not row.part.startswith("vectors")))


def home(name: str, language: LanguageModel | None = None) -> Home:
    stages: dict[str, Stage[Any, Any, Any]] = {
        stage.name: stage
        for stage in (
            Normalize(DigestEmbedder(), NoHistory(), language=language),
            LocalizeState(NoHistory()),
            ExtractPerView(DigestEmbedder(), NoHistory()),
            Route(NoHistory(), language=language),
            Commit(DigestEmbedder()),
        )
    }
    return Home(stages[name], stages[name].initial(SPACE))


async def messages(name: str, turns: int, ids: Naming, sentences: int = 12) -> Iterator[Any]:
    """Return what the stage of this name is given for that many turns."""
    if name in {"route", "commit"}:
        told = await extracted(turns, ids, sentences)
        return told if name == "route" else (Routed(header=one.header, source=one) for one in told)
    heard = await localized(turns, ids, sentences)
    cut: dict[str, Callable[[Any], Any]] = {
        "normalize": lambda one: Numbered(header=one.header, event=one.normalized.turn),
        "localize_state": lambda one: one.normalized,
        "extract_per_view": lambda one: one,
    }
    return map(cut[name], heard)


STAGES = ["normalize", "localize_state", "extract_per_view", "route", "commit"]


@pytest.mark.parametrize("letter", [EMOJI, '"'])
@pytest.mark.parametrize("name", STAGES)
async def test_a_state_is_small_whatever_the_ids(name: str, letter: str) -> None:
    one = home(name)
    for message in await messages(name, 2 * WINDOW + 16, longest(letter)):
        await one.hear(message, weighed=message.header.position % 8 == 7)
    assert max(one.sizes) <= LIMIT
    assert one.stage.restore(one.state.parts()) == one.state


def wordy(request: Request[Any]) -> object:
    """Return the longest topic and summary that a model may give, and rulings that add."""
    if request.prompt.stage == "route":
        return Router().say(request)
    bare: dict[str, object] = {"attitude": "none", "reason": "", "facts": [], "attributes": []}
    return {**bare, "topic": EMOJI * 79 + "x", "summary": EMOJI * 399 + "x"}


@pytest.mark.parametrize("name", ["normalize", "route"])
async def test_a_state_is_small_and_written_little_with_a_language_model(name: str) -> None:
    one = home(name, Scripted(wordy))
    for message in await messages(name, WINDOW + 24, longest("x")):
        await one.hear(message, weighed=message.header.position >= WINDOW - 1)
    assert max(one.sizes) <= LIMIT
    assert sum(one.written[1:]) / len(one.written[1:]) <= WRITTEN
    assert one.stage.restore(one.state.parts()) == one.state


@pytest.mark.parametrize("name", STAGES)
async def test_a_state_does_not_grow_from_a_thousand_turns_on(name: str) -> None:
    one = home(name)
    for message in await messages(name, 2000, longest(EMOJI), sentences=2):
        await one.hear(message, weighed=message.header.position % 40 == 39)
    half = len(one.sizes) // 2
    assert max(one.sizes) <= LIMIT
    assert max(one.sizes[half:]) <= 1.03 * max(one.sizes[:half])  # positions get more digits


@pytest.mark.parametrize("name", STAGES)
async def test_a_turn_told_alone_writes_little_with_long_ids(name: str) -> None:
    one = home(name)
    for message in await messages(name, 3 * WINDOW, longest("x")):
        await one.hear(message, weighed=message.header.position >= 2 * WINDOW - 1)
    written = one.written[1:]
    assert len(written) == WINDOW
    assert sum(written) / WINDOW <= WRITTEN


async def revisions(turns: int, pieces: int) -> AsyncIterator[Extracted]:
    """Return a turn of that many pieces, and its revisions."""
    for one in await extracted(turns, longest("x")):
        position = one.header.position
        normalized = one.localized.normalized
        first = normalized.pieces[0]
        yield one.model_copy(
            update={
                "localized": one.localized.model_copy(
                    update={
                        "normalized": normalized.model_copy(
                            update={"revises": position - 1 if position else None, "pieces": (first,) * pieces}
                        )
                    }
                )
            }
        )


async def test_revisions_of_a_long_turn_fit_the_state_of_route() -> None:
    one = home("route")
    async for message in revisions(WINDOW + 16, 100):
        await one.hear(message, weighed=message.header.position % 8 == 7)
    assert max(one.sizes) <= LIMIT
    assert RouteState.from_parts(one.state.parts()) == one.state


async def night(one: Home, first: int, events: int) -> tuple[int, int]:
    """Let a run take the items of the newest turns together, as many at once as it may; return what was done."""
    told = list(await messages("route", first, longest("x")))
    known: list[RecordRow] = []
    for message in told:
        outcome = await one.stage.decide(message, one.state)
        assert isinstance(outcome, Emit)
        known += [row for row in outcome.message.rows if row.row == "record" and row.kind in ITEM_KINDS]
        await one.hear(message, weighed=False)
    one.weigh()
    known, done, stale = known[-2 * 16 * events :], 0, 0
    for n in range(events):
        pairs = [known[2 * k : 2 * k + 2] for k in range(16 * n, 16 * n + 16)]
        decisions = [duplicate(*pair) if k % 2 else topic(f"{first} {n} {k}", *pair) for k, pair in enumerate(pairs)]
        body = Consolidation(run="r", part=n, decisions=tuple(decisions))
        name, position = f"r:{n}", first + n
        header = Header(space=SPACE, position=position, kind=EventKind.CONTROL, event_id=name, offset=position)
        control = Control(space=SPACE, event_id=name, at=START, body=body)
        passed = Passed(header=header, control=control)
        outcome = await one.stage.decide(passed, one.state)
        assert isinstance(outcome, Emit)
        stale += outcome.message.stale
        done += len(decisions) - outcome.message.stale
        await one.hear(passed, weighed=True)
    return done, stale


async def test_what_route_remembers_of_a_night_has_one_bound() -> None:
    one = home("route")
    done, stale = await night(one, WINDOW + 16, 20)
    assert max(one.sizes) <= LIMIT
    assert done > 150
    assert stale > 0
    assert sum(map(len, one.state.made_parts().values())) <= ROOM
    assert sum(one.written[1:]) <= WRITTEN * WINDOW
    assert one.stage.restore(one.state.parts()) == one.state
