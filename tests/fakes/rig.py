"""The embedded runtime on a journal on disk, run in any way; and everything that can be told of a space afterwards."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from infra.embedded_memory import EmbeddedMemory, Plane
from infra.memory_api import Sums
from schemas.letter import Letter
from schemas.space import Space
from stages.contract import Unavailable
from stages.ports import IndexWriter
from streams.embedded import Embedded
from streams.journal import Journal
from streams.patience import Patience
from streams.state import load
from streams.stopped import StageCrashed
from streams.topology import Topology
from tests.fakes.disturbed import CALM, Fate, TornIndex, Way, disturbed
from tests.fakes.plain_engine import STAGES
from tests.fakes.runtime import Died
from tests.fakes.sent import Sent

_TRIES = 40
"""Runs to the end at most: each event that crashes a stage takes three."""


@dataclass(frozen=True)
class Fortune:
    """What became of a space: equal logs must make these equal. ``parts`` are the states of its stages."""

    memory: list[str]
    letters: list[str]
    sums: Sums
    positions: list[int]
    parts: list[Mapping[str, bytes]]
    index: Any


Process = tuple[Topology, IndexWriter]
Opener = Callable[[Path, Fate], AbstractAsyncContextManager[Process]]


def outliving(flow: Callable[[], Topology], index: IndexWriter) -> Opener:
    """Return an opener of processes whose index outlives them; stages are wired anew for each."""

    @asynccontextmanager
    async def opened(_home: Path, fate: Fate) -> AsyncIterator[Process]:
        yield flow(), TornIndex(index, fate)

    return opened


@dataclass
class Rig:
    """Homes lie in ``folder``: whoever dies leaves to the next what the disk held at that moment.

    ``opened`` begins a process in a home, ``kept`` says what the index holds of a space.
    """

    folder: Path
    opened: Opener
    kept: Callable[[Space], Any] = lambda _space: None
    deaths: int = 0

    def __post_init__(self) -> None:
        self.home.mkdir(parents=True)

    @property
    def home(self) -> Path:
        return self.folder / str(self.deaths)

    def publish(self, log: Iterable[Sent]) -> None:
        with self.journal() as journal:
            for (space, own), events in groupby(log, key=lambda sent: (sent.space, sent.own)):
                journal.append(Space(space), [sent.body for sent in events], own=own)

    @contextmanager
    def journal(self) -> Iterator[Journal]:
        journal = Journal(self.home / "log.sqlite")
        try:
            yield journal
        finally:
            journal.close()

    async def run(self, way: Way = CALM) -> int:
        """Run once, to the end or to its death; return the steps that it took."""
        fate = Fate(way.dies, way.error, self._leave)
        async with self.opened(self.home, fate) as (flow, index):
            with disturbed(way, fate), self.journal() as journal:
                try:
                    await Embedded(flow, journal, index, Patience(tries=1)).run()
                except* (Died, StageCrashed, Unavailable):
                    pass
        if fate.is_dead and way.error is Died:
            shutil.rmtree(self.home)
            self.deaths += 1
        return fate.steps

    def _leave(self) -> None:
        lost = shutil.ignore_patterns("*-shm")  # shared memory of the dead, not on any disk
        shutil.copytree(self.home, self.folder / str(self.deaths + 1), ignore=lost)

    async def finish(self, way: Way = CALM) -> None:
        """Run until nothing is pending."""
        for _ in range(_TRIES):
            await self.run(way)
            with self.journal() as journal:
                if all(journal.settled(space) for space in journal.spaces()):
                    return
        msg = "it never ends"
        raise AssertionError(msg)

    async def live(self, log: Sequence[Sent], runs: Sequence[tuple[int, Way]] = (), last: Way = CALM) -> None:
        """Publish a log in pieces (``runs`` say how many events go before each run) and process it to its end."""
        at = 0
        for count, way in runs:
            self.publish(log[at : at + count])
            at += count
            await self.run(way)
        self.publish(log[at:])
        await self.finish(last)

    def fortune(self, space: str) -> Fortune:
        with self.journal() as journal:
            key = Space(space)
            memory = EmbeddedMemory(journal, _no_models)
            return Fortune(
                memory=list(journal.memory(key)),
                letters=sorted(_letter(letter) for letter in journal.letters(key)),
                sums=memory.inspect(key).sums,
                positions=[journal.header(stage, key).position for stage in STAGES],
                parts=[load(journal.state(stage, key)).parts for stage in STAGES],
                index=self.kept(key),
            )


def _no_models() -> Plane:
    msg = "a report needs no models"
    raise AssertionError(msg)


def _letter(letter: Letter) -> str:
    """Return a letter without its offset and what hangs on it: that counts the events of all spaces."""
    original = (
        letter.original.decode("latin-1") if letter.topic == "turns" else _unnumbered(json.loads(letter.original))
    )
    kept = letter.model_copy(update={"letter_id": "", "offset": 0, "original": b""})
    return json.dumps([kept.model_dump(mode="json"), original], sort_keys=True)


def _unnumbered(body: Any) -> Any:
    match body:
        case {"event_id": _, "offset": _, **rest}:
            return rest
        case dict():
            return {name: _unnumbered(value) for name, value in body.items()}
        case list():
            return [_unnumbered(value) for value in body]
        case _:
            return body
