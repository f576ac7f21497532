"""The whole chain on the bundled conversation: turns in, cited memory out, with the real encoder and the real index."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from infra.bootstrap import open_memory
from infra.embedders import make_embedder
from infra.errors import HomeUnusable
from infra.importers import Format, read
from infra.memory_api import Memory
from infra.models import HashEmbedder
from infra.settings import Settings
from schemas.memory import ChangedRow, CloseCause, ClosedRow, RecordKind, RecordRow
from schemas.recall import ContextInput, Question
from schemas.space import Space
from stages.contract import Unavailable
from stages.ports import Embedder

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "infra" / "demo"
SHARED = ROOT.parent / "shared" / "data"
SPACE = Space("demo/harbour")
QUESTIONS = [json.loads(line) for line in (DEMO / "questions.jsonl").read_text().splitlines()]


async def fill(memory: Memory, path: Path, kind: Format, limit: int | None = None) -> None:
    for event in list(read(path, kind))[:limit]:
        await memory.publish(event.space_key, [event.payload])
    await memory.run()


@pytest.fixture(scope="module")
def encoder() -> Embedder:
    return make_embedder("sentence-transformers:all-MiniLM-L6-v2")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture
async def memory(home: Path, encoder: Embedder) -> AsyncIterator[Memory]:
    async with open_memory(Settings(home=home), embedder=encoder) as opened:
        if not opened.sums().published:
            await fill(opened, DEMO / "conversation.jsonl", Format.JSONL)
        yield opened


async def test_every_event_is_accounted_for(memory: Memory) -> None:
    assert str(memory.sums()) == "published=120 committed=120 lettered=0 duplicates=0 forgotten=0 pending=0"


@pytest.mark.parametrize("asked", QUESTIONS, ids=[asked["id"] for asked in QUESTIONS])
async def test_the_evidence_of_every_question_is_found(memory: Memory, asked: dict[str, str]) -> None:
    question = Question.model_validate_json(json.dumps({k: v for k, v in asked.items() if k != "evidence"}))
    found = await memory.recall(SPACE, question)
    cited = [turn_id for hit in found.hits for turn_id in hit.turn_ids]
    assert set(asked["evidence"]) <= set(cited[:10])
    assert all(hit.why for hit in found.hits)
    assert not found.stale


async def test_the_same_log_gives_the_same_memory(memory: Memory, encoder: Embedder, tmp_path: Path) -> None:
    """Another order of publishing and running, as many bots and restarts would have it."""
    async with open_memory(Settings(home=tmp_path), embedder=encoder) as other:
        for event in read(DEMO / "conversation.jsonl", Format.JSONL):
            await other.publish(event.space_key, [event.payload])
            if other.sums().pending >= 17:
                await other.run()
        await other.run()
        assert list(other.rows(SPACE)) == list(memory.rows(SPACE))


async def test_a_correction_closes_and_a_change_keeps(memory: Memory) -> None:
    rows = list(memory.rows(SPACE))
    records = {row.id: row for row in rows if isinstance(row, RecordRow)}
    corrected = [row for row in rows if isinstance(row, ClosedRow) and row.cause is CloseCause.CORRECTION]
    assert any("c2:7" in records[row.id].provenance for row in corrected)
    assert all(row.successor is None or row.successor in records for row in corrected)


def chatter(number: int) -> bytes:
    """A turn long after the conversation, of one of its two people, about nothing that matters."""
    told = [json.loads(line) for line in (DEMO / "conversation.jsonl").read_text().splitlines()]
    people = {turn["speaker"]["id"]: turn for turn in told if turn.get("speaker", {}).get("role") == "user"}
    first = people[sorted(people)[number % 2]]
    text = f"Errand number {number} is done, the tide is out and the gulls are loud."
    later = {"turn_id": f"later:{number}", "text": text, "at": f"2026-09-{1 + number // 3:02}T10:{number % 60:02}:00Z"}
    return json.dumps({key: first[key] for key in ("space", "speaker")} | later).encode()


async def test_a_changed_preference_is_marked_and_stays_when_it_leaves_working_memory(
    encoder: Embedder, tmp_path: Path
) -> None:
    """Some fifty turns later: only what has left working memory is compared with what is known."""
    async with open_memory(Settings(home=tmp_path), embedder=encoder) as memory:
        await fill(memory, DEMO / "conversation.jsonl", Format.JSONL)
        await memory.publish(SPACE, [chatter(number) for number in range(60)])
        await memory.run()
        rows = list(memory.rows(SPACE))
    records = {row.id: row for row in rows if isinstance(row, RecordRow)}
    changed = [row for row in rows if isinstance(row, ChangedRow)]
    assert changed
    assert all(row.id in records and row.successor in records for row in changed)
    assert any("c9:2" in records[row.successor].provenance for row in changed)


async def test_every_record_rests_on_turns_and_quotes_them(memory: Memory) -> None:
    rows = [row for row in memory.rows(SPACE) if isinstance(row, RecordRow)]
    known = {turn.turn_id for turn in memory.turns(SPACE)}
    assert {row.kind for row in rows} >= {RecordKind.TURN, RecordKind.WINDOW, RecordKind.FACT, RecordKind.EVENT}
    assert all(row.provenance and set(row.provenance) <= known for row in rows)


async def test_a_causal_token_is_found_and_an_unknown_one_is_stale(memory: Memory) -> None:
    question = Question(question="When does the electrician come?")
    assert not (await memory.recall(SPACE, question, after="c12:4")).stale
    assert not (await memory.recall(SPACE, question, after="c2:3@1")).stale
    assert (await memory.recall(SPACE, question, after="c99:1")).stale


async def test_as_of_knows_nothing_later(memory: Memory) -> None:
    question = Question(question="When does the electrician come?", as_of=10)
    found = await memory.recall(SPACE, question)
    seen = {turn.turn_id: turn.position for turn in memory.turns(SPACE)}
    assert found.hits
    assert all((seen[turn_id] or 0) <= 10 for hit in found.hits for turn_id in hit.turn_ids)


@pytest.mark.parametrize("budget", [64, 256, 1024])
async def test_a_bundle_keeps_its_budget(memory: Memory, budget: int) -> None:
    asked = ContextInput(text="Back to the worktop: which one did I choose?", speaker="mia")
    bundle = await memory.context(SPACE, asked, budget)
    assert 0 < bundle.tokens <= budget
    assert bundle.tokens == sum(line.tokens for line in bundle.lines)
    assert all(line.turn_ids for line in bundle.lines)


class Asleep(HashEmbedder):
    """A model that does not answer."""

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        msg = "the model sleeps"
        raise Unavailable(msg)


async def test_a_model_that_does_not_answer_stops_the_run_and_loses_nothing(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    async with open_memory(settings, embedder=Asleep()) as memory:
        with pytest.raises(Unavailable, match="sleeps"):
            await fill(memory, DEMO / "conversation.jsonl", Format.JSONL, 5)
        assert memory.sums().pending == 5
    async with open_memory(settings, embedder=HashEmbedder()) as memory:
        assert memory.sums().committed == 5


async def test_a_home_of_another_model_is_refused_with_both_names(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    async with open_memory(settings, embedder=HashEmbedder()) as memory:
        await fill(memory, DEMO / "conversation.jsonl", Format.JSONL, 3)
    with pytest.raises(HomeUnusable, match=r"hash.*MiniLM|MiniLM.*hash"):
        async with open_memory(settings, embedder=make_embedder("sentence-transformers:all-MiniLM-L6-v2")) as memory:
            await fill(memory, DEMO / "conversation.jsonl", Format.JSONL, 4)


SETS = [("locomo/locomo5.json", Format.LOCOMO, 300), ("beam/beam100k_01.json.gz", Format.BEAM, 40)]


@pytest.mark.parametrize(("path", "kind", "limit"), SETS)
async def test_real_sets_go_in_and_the_sums_hold(tmp_path: Path, path: str, kind: Format, limit: int) -> None:
    if not SHARED.is_dir():
        pytest.skip("the data sets are not beside this checkout (../shared/data)")
    async with open_memory(Settings(home=tmp_path), embedder=HashEmbedder()) as memory:
        await fill(memory, SHARED / path, kind, limit)
        sums = memory.sums()
    assert (sums.published, sums.committed, sums.lettered, sums.pending) == (limit, limit, 0, 0)
