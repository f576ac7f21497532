"""Thousands of statements in one frame are all near each other: a night looks closer only at what may hold another."""

from __future__ import annotations

import asyncio

import pytest

from infra.models.hash_embedder import HashEmbedder
from stages.consolidate import Consolidate, by_rules, live
from stages.consolidate.containment import contains
from stages.consolidate.terms import Term, terms
from stages.pausing import AT_ONCE
from tests.fakes.nightly import SPACE, applied, left, remembered

MANY = 300


async def test_what_lacks_a_word_of_another_is_not_compared_with_it_term_by_term(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared = 0

    def counted(long: tuple[Term, ...], short: tuple[Term, ...]) -> bool:
        nonlocal compared
        compared += 1
        return contains(long, short)

    monkeypatch.setattr(by_rules, "contains", counted)
    texts = [f"Mia has a dog called Rex{n}." for n in range(MANY)]
    rows = left([remembered(text, n) for n, text in enumerate(["Mia has a dog.", *texts])])
    plan = await Consolidate(HashEmbedder()).merges(SPACE, live(rows), 500)
    assert [len(one.retired) for one in plan.decisions] == [2]
    assert len(plan.apart) <= MANY
    assert compared <= by_rules._TRIED


async def test_others_go_on_while_a_large_space_is_read() -> None:
    """A home that is served consolidates in the thread that answers."""
    most, seen = 0, 0

    async def others() -> None:
        nonlocal most, seen
        while True:
            most, seen = max(most, (now := terms.cache_info().misses) - seen), now
            await asyncio.sleep(0)

    texts = [f"Mia has a dog called Rex{n}." for n in range(MANY)]
    rows = left([remembered(text, n) for n, text in enumerate(texts)])
    terms.cache_clear()
    going_on = asyncio.create_task(others())
    await Consolidate(HashEmbedder()).merges(SPACE, live(rows), 500)
    going_on.cancel()
    assert terms.cache_info().misses >= MANY
    assert most <= AT_ONCE


async def test_of_many_that_nearly_hold_another_few_are_tried_and_a_second_night_decides_nothing() -> None:
    words = [f"w{n}ing" for n in range(60)]
    texts = [f"Mia has a dog{''.join(f', and {word}' for word in words[: n % 12])} in {words[n]}." for n in range(60)]
    rows = left([remembered(text, n) for n, text in enumerate(["Mia has a dog.", *texts])])
    consolidate = Consolidate(HashEmbedder())
    plan = await consolidate.merges(SPACE, live(rows), 500)
    assert plan.decisions
    assert not (await consolidate.merges(SPACE, live(applied(rows, plan)), 500)).decisions
