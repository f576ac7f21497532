"""Elsewhere: lexical search works for English only."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from infra.embedded_memory import EmbeddedMemory
from schemas.memory import RecordKind
from stages.ports import Filter
from stages.text.tokens import tokens
from tests.faults.user import SPACE, opened, records, tell, turn

TURNS = frozenset({RecordKind.TURN})


@dataclass(frozen=True)
class Script:
    """What was said in a script, the words that somebody searches for, and the number of the turn that has them."""

    name: str
    query: str
    wanted: int
    said: list[str]


SCRIPTS = [
    Script(**json.loads(line)) for line in Path(__file__).with_name("scripts.jsonl").read_text("utf-8").splitlines()
]


async def found(home: Path, said: Sequence[str], query: str) -> list[str]:
    """Return the turns that BM25 alone finds for these words, best first."""
    async with opened(home) as memory:
        await tell(memory, *(turn(f"t{n}", text) for n, text in enumerate(said)))
        assert isinstance(memory, EmbeddedMemory)
        matches = await memory.plane.recall.search.sparse(Filter(SPACE, 99, TURNS), tokens(query), 10)
        assert len(records(memory, RecordKind.TURN)) == len(said)
        return [match.turn_id for match in matches]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
async def test_fault_06_words_of_every_script_find_their_turn(home: Path, script: Script) -> None:
    """No vector helps: only the words do, and they are on one turn of four in the same script."""
    assert (await found(home, script.said, script.query))[0] == f"t{script.wanted}"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_fault_06_words_are_found_however_they_are_composed(script: Script) -> None:
    """A keyboard may compose an accent or a syllable, another may not."""
    text = script.said[script.wanted]
    assert tokens(unicodedata.normalize("NFD", text)) == tokens(unicodedata.normalize("NFC", text))
    assert set(tokens(unicodedata.normalize("NFD", script.query))) & set(tokens(text))


async def test_fault_06_a_word_of_one_script_is_found_in_a_text_of_another(home: Path) -> None:
    said = ("我昨天在 Rossmann 买了 iPhone 充电器。", "今天早上的火车又晚点了。", "Der Zug war schon wieder zu spät.")
    assert await found(home, said, "iphone") == ["t0"]
    assert (await found(home.parent / "more", said, "充电器"))[0] == "t0"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("किताब", ("मैंने कल एक किताब खरीदी।", "मैं कल कुतुब मीनार देखने गया।")),
        ("বই", ("আমি একটা বই কিনেছি।", "সে বাই সাইকেলে এসেছে।")),
        ("자전거", ("자전거를 샀어요.", "자동차를 샀어요.")),
    ],
    ids=["devanagari", "bengali", "hangul"],
)
async def test_fault_06_signs_inside_a_word_tell_it_from_others(home: Path, query: str, said: tuple[str, ...]) -> None:
    """Vowel signs belong to their word, and particles do not hide it."""
    assert await found(home, said, query) == ["t0"]


@pytest.mark.parametrize(("pointed", "plain"), [("دَرّاجَة", "دراجة"), ("אוֹפַנַּיִם", "אופנים"), ("كــتــاب", "كتاب")])
def test_fault_06_points_that_may_be_left_out_make_no_other_word(pointed: str, plain: str) -> None:
    assert tokens(pointed) == tokens(plain) == [plain]


async def test_fault_06_a_script_without_spaces_is_found_by_a_part_of_a_sentence(home: Path) -> None:
    said = ("彼女は京都大学で日本文学を教えている。", "昨日、市場で青い自転車を買ったよ。")
    assert (await found(home, said, "日本文学"))[0] == "t0"
