"""``bench embeddings``: a served encoder against the same one in process, and a replica killed under load."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from infra.address import Address
from infra.bench.filled import warmed
from infra.bench.model_process import ModelProcess
from infra.bench.report import table
from infra.errors import UsageError
from infra.models.endpoint import Endpoint
from infra.models.http_embedder import EndpointEncoder
from infra.settings import Settings
from stages.contract import Unavailable
from stages.ports import Embedder

ROWS = 16
"""Texts of a request: the rows of a call."""

LEAST_RATIO = 0.8
"""Of the speed in process that a served encoder has to keep: HTTP and JSON may cost a fifth, and more says that calls
are not merged or go one after the other."""

_ANSWER_S = 120.0
_AGAIN_S = 0.5
"""Seconds until a request without an answer is made again."""

_OPENINGS = ("We talked about", "My sister asked for", "Yesterday I saw", "Nobody at work believed", "He still owes me")
_THINGS = ("the kitchen floor", "a blue kettle", "two tickets to Lisbon", "the old sea wall", "a dog called Bosun")
_ENDS = ("and it rained all day.", "but that was years ago.", "so we left before nine.", "which surprised my mother.")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Sizes: ``texts`` in each of ``slices``, ``concurrent`` requests, ``kills`` of a replica in a slice of its own."""

    texts: int = 1024
    slices: int = 4
    concurrent: int = 32
    kills: int = 1


@dataclass(frozen=True, slots=True)
class Slice:
    """Seconds for the same texts: by the served encoder, and by the one in process."""

    texts: int
    served: float
    bare: float


@dataclass
class Load:
    """Requests of ``ROWS`` texts, ``concurrent`` at once, each asked again until it is answered."""

    encoder: EndpointEncoder
    threads: ThreadPoolExecutor
    answered: int = 0
    unanswered: list[str] = field(default_factory=list)

    async def vectors(self, texts: Sequence[str]) -> list[bytes]:
        """Return the vectors of all texts, in order."""
        parts = [texts[start : start + ROWS] for start in range(0, len(texts), ROWS)]
        return [vector for rows in await asyncio.gather(*map(self._asked, parts)) for vector in rows]

    async def _asked(self, part: Sequence[str]) -> list[bytes]:
        call = partial(self.encoder.encode, self.encoder.prepare(part))
        while True:
            try:
                vectors = await asyncio.get_running_loop().run_in_executor(self.threads, call)
            except Unavailable as error:
                self.unanswered.append(str(error))
                await asyncio.sleep(_AGAIN_S)
            else:
                self.answered += 1
                return vectors


@contextmanager
def loading(url: str, model: str, concurrent: int) -> Iterator[Load]:
    """Give a load on the model that is served at ``url``; asks it for its card, so it has to answer."""
    endpoint = Endpoint(Address(url, model), None, _ANSWER_S)
    with ThreadPoolExecutor(concurrent, "anabranch-load") as threads:
        try:
            yield Load(EndpointEncoder(endpoint), threads)
        finally:
            endpoint.close()


async def run_embeddings(settings: Settings, wanted: Wanted, console: Console) -> bool:
    """Measure, print, and return whether no request was lost, no vector differs, and it is fast enough."""
    if settings.embedder.startswith("openai:"):
        msg = "bench embeddings serves an encoder itself: set ANABRANCH_EMBEDDER to one of this machine"
        raise UsageError(msg)
    bare = await warmed(settings)
    with TemporaryDirectory() as folder:
        plane = ModelProcess(Path(folder), ["--embedder", settings.embedder])
        try:
            await plane.start()
            with loading(plane.url, bare.model.partition("@")[0], wanted.concurrent) as load:
                return await _measured(plane, load, bare, wanted, console)
        finally:
            await plane.stop()
            bare.close()


async def _measured(plane: ModelProcess, load: Load, bare: Embedder, wanted: Wanted, console: Console) -> bool:
    await load.vectors(list(_texts(-1, wanted.texts)))  # warms the server's threads and connections
    slices = []
    same = True
    for number in range(wanted.slices):
        texts = list(_texts(number, wanted.texts))
        served, vectors = await _timed(load.vectors(texts))
        alone, own = await _timed(bare.embed(texts))
        same = same and vectors == own
        slices.append(Slice(len(texts), served, alone))
    _print(slices, wanted, console)
    ratio = sum(one.bare for one in slices) / sum(one.served for one in slices)
    console.print(f"ratio={ratio:.3f} (at least {LEAST_RATIO})")
    console.print(f"{len(load.unanswered)} requests were asked again; vectors equal bit for bit: {same}")
    return await _killed(plane, load, bare, wanted, console) and same and ratio >= LEAST_RATIO


async def _killed(plane: ModelProcess, load: Load, bare: Embedder, wanted: Wanted, console: Console) -> bool:
    """Kill the replica once a quarter of the requests is answered, as often as wanted; each in texts of its own."""
    fine = True
    for number in range(wanted.kills):
        texts = list(_texts(10_000 + number, wanted.texts))
        load.answered, load.unanswered = 0, []
        killing = asyncio.ensure_future(_kill_at(plane, load, len(texts) // ROWS // 4))
        took, vectors = await _timed(load.vectors(texts))
        victim = await killing
        same = vectors == await bare.embed(texts)
        console.print(
            f"replica {victim} killed under load: {load.answered} of {-(-len(texts) // ROWS)} requests answered in "
            f"{took:.1f} s, {len(load.unanswered)} asked again; vectors equal bit for bit: {same}"
        )
        for told in sorted({one[:160] for one in load.unanswered}):
            console.print(f"  {told}", markup=False)
        fine = fine and same and load.answered == -(-len(texts) // ROWS)
    return fine


async def _kill_at(plane: ModelProcess, load: Load, answered: int) -> int:
    while load.answered < answered:  # noqa: ASYNC110 - it is looked at, as a killer would
        await asyncio.sleep(0.01)
    return plane.kill("embeddings")


async def _timed(work: Awaitable[list[bytes]]) -> tuple[float, list[bytes]]:
    began = time.perf_counter()  # noqa: TID251 - a benchmark measures
    vectors = await work
    return time.perf_counter() - began, vectors  # noqa: TID251


def _texts(number: int, count: int) -> Iterator[str]:
    """Give distinct short texts as people write them; no other slice has one of them."""
    for index in range(count):
        opening, thing = _OPENINGS[index % len(_OPENINGS)], _THINGS[index // 5 % len(_THINGS)]
        yield f"{opening} {thing} {_ENDS[index // 25 % len(_ENDS)]} That was number {index} of {number + 2}."


def _print(slices: Sequence[Slice], wanted: Wanted, console: Console) -> None:
    columns = ["slice", "texts", "served texts/s", "bare texts/s", "ratio"]
    rows = [
        [str(number), str(one.texts), f"{one.texts / one.served:.1f}", f"{one.texts / one.bare:.1f}",
         f"{one.bare / one.served:.3f}"]
        for number, one in enumerate(slices, start=1)
    ]  # fmt: skip
    title = f"Served by Ray, {wanted.concurrent} requests of {ROWS} texts at once, against the encoder in process"
    table(console, title, columns, rows)
