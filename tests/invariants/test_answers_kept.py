"""Invariant 1: an answer of a model is kept before anything that rests on it is durable.

The model never says the same twice, so an answer that was not kept cannot be had again. The process dies before and
after each durable act (an answer kept, a transaction of the journal) in turn; each time what is durable is looked at,
and in the end the whole log is replayed on the answers that were kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from infra.models.kept import KeptLanguageModel
from infra.stages import topology
from schemas.model_result import ModelResult
from schemas.space import Space
from streams.journal import Journal
from streams.results import FileResults
from tests.fakes.asking_stage import OnlyGist, let_ask
from tests.fakes.fickle import Fickle
from tests.fakes.mutations import Install, Mutation, each
from tests.fakes.real_home import SPACE, RealHome, story
from tests.fakes.runtime import Died

MOMENTS = 10
"""Moments of a run to die at: two turns take two or three answers, so four or six; then the first stage is cut."""

LOG = story(2 * MOMENTS)


@dataclass
class Asking(RealHome):
    """A home whose first stage asks; its answers lie in ``answers``."""

    chat: Fickle = field(default_factory=Fickle)
    answers: Path = Path()

    async def run(self) -> None:
        with closing(FileResults(self.answers)) as results:
            language = OnlyGist(KeptLanguageModel(self.chat, results))
            self.wire = lambda embedder, index: topology(embedder, index, 1_000_000, language)
            await super().run()

    def words(self) -> set[str]:
        """Return the words on which outputs of the first stage rest."""
        with self.journal() as journal:
            bodies = [json.loads(one.body) for one in journal.read_records("turns.normalized", SPACE, 0, 10_000)]
        first = {body["z"]["summary"].partition(":")[0] for body in bodies}
        return {word for word in first if word.startswith("word")}

    def kept(self) -> set[str]:
        """Return the words that were kept."""
        with closing(FileResults(self.answers)) as results:
            rows = results._db.execute("SELECT body FROM results").fetchall()
        texts = [ModelResult.model_validate_json(body).text for (body,) in rows]
        return {json.loads(text)["word"] for text in texts if text.startswith("{")}


@dataclass
class Mortal:
    """Ends the process at the ``left``-th moment, those being before and after each durable act."""

    left: int

    def moment(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise Died

    def install(self, patch: pytest.MonkeyPatch) -> None:
        keep, transaction = FileResults.keep, Journal.transaction

        async def kept(results: FileResults, space: Space, key: str, result: ModelResult) -> ModelResult:
            self.moment()
            stands = await keep(results, space, key, result)
            self.moment()
            return stands

        @contextmanager
        def in_transaction(journal: Journal, *, synced: bool = False) -> Iterator[None]:
            self.moment()
            with transaction(journal, synced=synced):
                yield
            self.moment()

        patch.setattr(FileResults, "keep", kept)
        patch.setattr(Journal, "transaction", in_transaction)


async def check(folder: Path) -> int:
    """Return how many runs died."""
    (folder / "home").mkdir()
    home, deaths = Asking(folder / "home", answers=folder / "answers.sqlite"), 0
    for moment in range(1, MOMENTS + 1):
        home.publish(LOG[2 * moment - 2 : 2 * moment])
        with pytest.MonkeyPatch.context() as patch:
            Mortal(moment).install(patch)
            try:
                await home.run()
            except* Died:
                deaths += 1
        assert home.words() <= home.kept(), "an output rests on an answer that is not kept"
        await home.run()
    await replayed(home, folder)
    return deaths


async def replayed(home: Asking, folder: Path) -> None:
    (folder / "again").mkdir()
    again = Asking(folder / "again", answers=home.answers, chat=home.chat)
    calls = home.chat.calls
    await again.tell(LOG)
    assert home.chat.calls == calls, "a replay calls again"
    assert again.memory() == home.memory(), "a replay makes another memory"


def afterwards() -> Install:
    """Use an answer, and keep it when the next one is asked for."""
    waiting: list[tuple[FileResults, Space, str, ModelResult]] = []
    keep = FileResults.keep

    async def put_off(results: FileResults, space: Space, key: str, result: ModelResult) -> ModelResult:
        for late in [one for one in waiting if one[0] is results]:  # a process that is gone keeps nothing any more
            await keep(*late)
        waiting[:] = [(results, space, key, result)]
        return result

    return lambda patch: patch.setattr(FileResults, "keep", put_off)


def only(what: str) -> Install:
    """Keep only answers in which a text occurs."""
    keep = FileResults.keep

    async def chosen(results: FileResults, space: Space, key: str, result: ModelResult) -> ModelResult:
        return await keep(results, space, key, result) if what in result.text else result

    return lambda patch: patch.setattr(FileResults, "keep", chosen)


def its_own() -> Install:
    """Look for an answer under a key that no other process has."""
    get = FileResults.get

    async def found(results: FileResults, space: Space, key: str) -> ModelResult | None:
        return await get(results, space, f"{key} {id(results)}")

    return lambda patch: patch.setattr(FileResults, "get", found)


@pytest.fixture(autouse=True)
def asking(monkeypatch: pytest.MonkeyPatch) -> None:
    let_ask(monkeypatch)


async def test_an_answer_is_kept_before_it_is_used(tmp_path: Path) -> None:
    assert await check(tmp_path) == MOMENTS


@each(
    Mutation("an answer is used before it is kept", afterwards(), "an output rests on an answer that is not kept"),
    Mutation("answers of no use are not kept", only("word"), "a replay calls again"),
    Mutation("each process finds its own answers", its_own(), "an output rests on an answer that is not kept"),
)
async def test_a_call_that_is_made_twice_is_caught(tmp_path: Path, mutation: Mutation) -> None:
    with mutation.put_in():
        await check(tmp_path)
