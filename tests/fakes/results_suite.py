"""What whatever keeps answers of models must do: one suite for memory, a file and Kafka.

``opened`` gives what one process keeps answers by; what another one keeps in the same place it sees.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeAlias

from schemas.model_result import ModelResult
from schemas.space import Space
from streams.results import Results

Opened: TypeAlias = Callable[[], AbstractAsyncContextManager[Results]]

ACME, BOLT = Space("acme/u-1"), Space("bolt/u-1")
_ODD = 'Mia said: "\N{SNOWMAN}\x00\u2028" \N{MUSICAL SYMBOL G CLEF}\n'


def result(text: str = "{}", status: int = 200) -> ModelResult:
    return ModelResult(model="m", prompt="route.r", prompt_version=1, status=status, text=text, finish="stop")


class ResultsContract:
    """Derive from it and give a fixture ``opened``."""

    async def test_what_was_kept_is_there(self, opened: Opened) -> None:
        async with opened() as results:
            assert await results.get(ACME, "k") is None
            assert await results.keep(ACME, "k", result(_ODD)) == result(_ODD)
            assert await results.get(ACME, "k") == result(_ODD)

    async def test_answers_of_no_use_are_kept_too(self, opened: Opened) -> None:
        async with opened() as results:
            for key, kept in {"empty": result(""), "refused": result("too long", 413)}.items():
                await results.keep(ACME, key, kept)
                assert await results.get(ACME, key) == kept

    async def test_the_first_stands(self, opened: Opened) -> None:
        async with opened() as results:
            await results.keep(ACME, "k", result("first"))
            assert await results.keep(ACME, "k", result("second")) == result("first")
            assert await results.get(ACME, "k") == result("first")

    async def test_a_key_is_of_its_space(self, opened: Opened) -> None:
        async with opened() as results:
            await results.keep(ACME, "k", result("acme"))
            assert await results.get(BOLT, "k") is None
            await results.keep(BOLT, "k", result("bolt"))
            assert await results.get(ACME, "k") == result("acme")

    async def test_another_process_goes_on_with_them(self, opened: Opened) -> None:
        async with opened() as results:
            await results.keep(ACME, "k", result("before"))
        async with opened() as results:
            assert await results.get(ACME, "k") == result("before")
            assert await results.keep(ACME, "k", result("after")) == result("before")

    async def test_two_at_once_agree(self, opened: Opened) -> None:
        async with opened() as one, opened() as other:
            assert await other.get(ACME, "k0") is None
            keeping = [
                side.keep(ACME, f"k{n}", result(f"{who} {n}"))
                for n in range(5)
                for who, side in enumerate((one, other))
            ]
            stood = await asyncio.gather(*keeping)
            assert stood[::2] == stood[1::2]
            assert [await one.get(ACME, f"k{n}") for n in range(5)] == stood[::2]

    async def test_large_answers(self, opened: Opened) -> None:
        async with opened() as results:
            large = result("x" * 2_000_000)
            assert await results.keep(ACME, "k", large) == large
