"""A reranker's opinion in recall: it moves what it judges, says so, and is never waited for in vain."""

from __future__ import annotations

import pytest

from schemas.recall import Question, Recalled
from stages.recall import Recall
from stages.recall.rerank import RERANKED
from tests.fakes.asked import filler
from tests.fakes.reranker import WordsShared
from tests.fakes.told import BEN, MIA, Said, Told

ASKED = Question(question="Which boat is made of larch?", k=3)


async def told() -> Told:
    said = [Said("t1", MIA, "larch is what the boat is made of"), Said("t2", BEN, "which boat, which boat is it")]
    return await Told().say(*said, *filler())


async def recalled(memory: Told, reranker: WordsShared | None, asked: Question = ASKED) -> Recalled:
    return await Recall(memory.index, memory.embedder, None, reranker).recall(memory.space, asked)


async def test_its_score_is_part_of_the_sum_and_named() -> None:
    got = await recalled(await told(), WordsShared())
    assert got.hits[0].turn_ids == ("t1",)
    assert all("reranker" in hit.why for hit in got.hits)
    assert got.hits[0].score == pytest.approx(sum(got.hits[0].why.values()), abs=20)
    assert got.degraded == ()


async def test_it_reads_the_best_with_their_speakers() -> None:
    reranker = WordsShared()
    await recalled(await told(), reranker)
    ((query, texts),) = reranker.asked
    assert query == ASKED.question
    assert "Mia: larch is what the boat is made of" in texts


async def test_without_an_answer_the_hits_are_those_without_it_and_say_so() -> None:
    memory = await told()
    got, plain = await recalled(memory, WordsShared(down=True)), await recalled(memory, None)
    assert got.hits == plain.hits
    assert (got.degraded, plain.degraded) == (("reranker",), ())


async def test_it_judges_no_more_than_so_many_and_the_rest_gets_the_least() -> None:
    memory = await Told().say(*(Said(f"t{n}", MIA, f"the boat number {n} of larch") for n in range(RERANKED + 20)))
    reranker = WordsShared()
    got = await recalled(memory, reranker, Question(question="boat of larch", k=100))
    assert len(reranker.asked[0][1]) == RERANKED
    assert len(got.hits) == RERANKED + 20


async def test_a_space_without_turns_asks_it_nothing() -> None:
    reranker = WordsShared()
    assert (await recalled(Told(), reranker)).hits == ()
    assert reranker.asked == []
