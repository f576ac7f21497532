"""A space whose chunks a scripted model reads: user and agent in turn, each pair of turns one chunk."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from schemas.control import Passed
from schemas.extracted import Extracted, Item
from schemas.header import EventKind, Header
from schemas.localized import Localized, Placement, Rule
from schemas.memory import RecordKind, RecordRow, Row
from schemas.normalized import Attitude, Normalized, Piece, Understanding
from schemas.span import Span
from schemas.turn import Role, Speaker, Turn
from stages.contract import WINDOW, Emit
from stages.extract_per_view import VIEWS, Choice, ExtractPerView, ExtractState
from stages.ports import Embedder, Request
from stages.route.records import view_records
from tests.fakes.flow import BOT, MIA, SPACE, START, Flow
from tests.fakes.history import MemoryHistory
from tests.fakes.language_model import Scripted
from tests.fakes.told import WordEmbedder

Say = Callable[[Request[Any]], object]
NUMBER = {view.id: number for number, view in enumerate(VIEWS, 1)}


def said(turn: int, quote: str, text: str, *, views: Sequence[int] = (1,), **more: Any) -> dict[str, Any]:
    """Return an item of an answer; its owner is the first speaker unless it is given."""
    return {"views": list(views), "turn": turn, "quote": quote, "text": text, "owner": 1, **more}


def turns_of(request: Request[Any]) -> list[dict[str, Any]]:
    """Return the turns that a request shows."""
    found: list[dict[str, Any]] = json.loads(request.data)["turns"]
    return found


def each_turn(request: Request[Any]) -> object:
    """Answer as an honest reader of one idea does: every turn of a person, whole, under the first view."""
    if request.prompt.name.endswith(".extract"):
        people = {one["n"] for one in json.loads(request.data)["speakers"] if one["role"] == "user"}
        told = [one for one in turns_of(request) if one["speaker"] in people]
        return {"items": [said(one["n"], one["text"], f"Mia: {one['text']}", owner=one["speaker"]) for one in told]}
    if request.prompt.name.endswith(".discover"):
        return {"views": [view(request, number) for number in range(10)]}
    if not request.prompt.name.endswith(".canonical"):
        return None  # another stage asks: it goes by its rules
    seed = json.loads(request.data)["seed"]
    return {"name": seed["name"], "slots": seed["slots"], "look_for": f"{seed['look_for']} In short."}


def view(request: Request[Any], number: int) -> dict[str, Any]:
    """Return a candidate view that no other discovery proposes."""
    first = json.loads(request.data)["chunks"][0]["text"]
    name = f"angle {number} of {len(request.frame) % 97} {sum(map(ord, first))}"
    return {"name": name, "kind": "fact", "slots": ["what"], "look_for": f"Look for {name}.", "chunks": [1, 2]}


@dataclass
class Listening(Flow):
    """A flow with a model in this stage. A turn of an agent replies to the one before; a person's opens a chunk."""

    language: Scripted = field(default_factory=lambda: Scripted(each_turn))
    choice: Choice = Choice.AUTO
    apart: bool = False
    heard: list[Extracted] = field(default_factory=list)

    async def pour(self, localized: Localized) -> tuple[Row, ...]:
        stage = ExtractPerView(self.embedder, self.memory, self.language, self.choice, self.apart)
        message, state = await emitted(stage, localized, self.extracting)
        parts = state.parts()
        self.extracting = ExtractState.from_parts(parts)
        assert self.extracting == state
        assert self.extracting.parts() == parts
        self.heard.append(Extracted.model_validate_json(message.model_dump_json()))
        assert self.heard[-1] == message
        return await self.route(self.heard[-1])

    async def passed(self, message: Passed) -> Passed:
        stage = ExtractPerView(self.embedder, self.memory, self.language, self.choice, self.apart)
        outcome = await stage.decide(message, self.extracting)
        assert isinstance(outcome, Emit)
        self.extracting = ExtractState.from_parts(outcome.state.parts())
        again = Passed.model_validate_json(outcome.message.model_dump_json())
        assert again == outcome.message
        return again

    def _placement(self, turn: Turn, *, root: bool) -> Placement:
        mine, before = self.position, self.placed.get(turn.reply_to or self.last or "")
        answers = before is not None and turn.speaker.role == "agent" and not root
        interaction = before.interaction if before is not None and answers else mine
        placement = Placement(
            rule=Rule.RANKED if before else Rule.NEW_ROOT,
            parent_turn_id=turn.reply_to or self.last,
            branch=0,
            interaction=interaction,
            path_summary="They talk.",
        )
        self.placed[turn.turn_id], self.last = placement, turn.turn_id
        return placement

    async def pair(self, text: str, answer: str = "Noted.", **more: Any) -> tuple[Item, ...]:
        """Say something and hear the answer; return the items that came with it."""
        await self.say(text, **more)
        await self.say(answer, speaker=BOT)
        return self.heard[-1].items

    async def chat(self, pairs: int) -> None:
        """Talk on for that many chunks."""
        for number in range(pairs):
            await self.pair(f"I own {number + 2} red boats in the harbour.")

    def views(self) -> list[RecordRow]:
        """Return the records of views in the order in which they were written."""
        return self.records(RecordKind.VIEW)

    def asked(self, purpose: str) -> list[Request[Any]]:
        """Return the requests of one purpose so far."""
        return [one for one in self.language.asked if one.prompt.name.endswith(f".{purpose}")]


def answering(*items: dict[str, Any]) -> Say:
    """Answer everything with these items."""
    return lambda _: {"items": list(items)}


async def heard(say: Say, *turns: tuple[Speaker, str], **more: Any) -> Extracted:
    """Return the last event of a flow in which these things are said."""
    flow = Listening(language=Scripted(say), **more)
    for speaker, text in turns:
        await flow.say(text, speaker=speaker)
    flow.check()
    return flow.heard[-1]


@dataclass
class Stream:
    """The stage alone, quick: turns that nobody parsed, and a memory that shows the views as of W events ago."""

    stage: ExtractPerView
    memory: MemoryHistory
    state: ExtractState = field(default_factory=ExtractState)
    heard: list[Extracted] = field(default_factory=list)

    @classmethod
    def of(cls, say: Say = each_turn, choice: Choice = Choice.AUTO, embedder: Embedder | None = None) -> Stream:
        memory = MemoryHistory()
        return cls(ExtractPerView(embedder or WordEmbedder(), memory, Scripted(say), choice), memory)

    @property
    def language(self) -> Scripted:
        assert isinstance(self.stage.language, Scripted)
        return self.stage.language

    @property
    def position(self) -> int:
        return len(self.heard)

    async def tell(self, text: str, speaker: Speaker = MIA, **placing: Any) -> Extracted:
        """Say something that opens a chunk, or, from an agent, answers the turn before."""
        read = len(self.memory.positions)
        message, state = await emitted(self.stage, plain(self.position, text, speaker, **placing), self.state)
        assert set(self.memory.positions[read:]) <= {self.position - WINDOW}  # as of W events ago, never later
        self.state = ExtractState.from_parts(state.parts())
        self.memory.add(view_records(message)[0])
        self.heard.append(message)
        return message

    async def chat(self, pairs: int) -> Stream:
        """Talk on for that many chunks."""
        for _ in range(pairs):
            await self.tell(f"I own {self.position} red boats in the harbour.")
            await self.tell("Noted.", BOT)
        return self

    @property
    def sets(self) -> list[tuple[int, int]]:
        """The position of each event that decided a set, and the version of that set."""
        found = [(one.header.position, view.detail.version) for one in self.heard for view in one.views]
        return list(dict.fromkeys((at, version) for at, version in found if version is not None))


async def emitted(stage: ExtractPerView, message: Localized, state: ExtractState) -> tuple[Extracted, ExtractState]:
    """Return what the stage makes of a turn, and the state after it."""
    outcome = await stage.decide(message, state)
    assert isinstance(outcome, Emit)
    assert isinstance(outcome.message, Extracted)
    return outcome.message, outcome.state


def plain(position: int, text: str, speaker: Speaker = MIA, turn_id: str | None = None, **placing: Any) -> Localized:
    """Return a localized turn about which nothing was found out."""
    name = turn_id or f"t{position}"
    header = Header(space=SPACE, position=position, kind=EventKind.TURN, event_id=name, offset=position)
    turn = Turn(space=SPACE, turn_id=name, speaker=speaker, text=text, at=START + timedelta(minutes=position))
    answers = speaker.role is Role.AGENT and position > 0
    where = {"branch": 0, "interaction": position - 1 if answers else position} | placing
    z = Understanding(summary=f"{speaker.label}: {text[:60]}", topic="", attitude=Attitude.NONE)
    piece = Piece(span=Span(start=0, end=len(text)), text=text, vector=bytes(64))
    normalized = Normalized(header=header, turn=turn, text=text, pieces=(piece,), z=z)
    return Localized(header=header, normalized=normalized, placement=Placement(rule=Rule.NEW_ROOT, **where))
