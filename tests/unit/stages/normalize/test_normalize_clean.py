from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.normalized import Normalized
from stages.contract import Emit, Reject
from stages.normalize import Normalize
from stages.normalize.clean import clean
from stages.normalize.pieces import cut
from stages.text.spoken import spoken
from tests.fakes.embedder import DigestEmbedder
from tests.fakes.history import MemoryHistory
from tests.fakes.talk import Talk, turn_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("  spaced \n", "spaced"),
        ("nul\x00 bell\x07 esc\x1b del\x7f c1\x85", "nul bell esc del c1"),
        ("line\nfeed\tand tab", "line\nfeed\tand tab"),
        ("dos\r\nmac\rend", "dos\nmac\nend"),
        ("lone \ud800 and \udfff", "lone  and"),
        ("e\u0301", "\u00e9"),
        ("\u1112\u1161\u11ab", "\ud55c"),
        ("family 👨‍👩‍👧 flag 🇩🇪", "family 👨‍👩‍👧 flag 🇩🇪"),
        ("\u200fשלמ\u200f", "\u200fשלמ\u200f"),
    ],
)
def test_clean(text: str, expected: str) -> None:
    assert clean(text) == expected


def test_many_combining_marks_take_no_quadratic_time() -> None:
    marks = "a" + "\u0301\u0316" * 100_000
    begin = time.process_time()
    cleaned = clean(marks)
    assert time.process_time() - begin < 5
    assert cleaned.count("\u0316") == 100_000


@given(st.text(alphabet=st.characters(codec=None)))
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    assert unicodedata.is_normalized("NFC", once)
    once.encode()  # no surrogates


@pytest.mark.parametrize("text", ["", " \n\t", "\x00\x07", "\u200b\ufeff", "\ud800", "\u3000", "\u200d\u0301"])
async def test_blank_is_refused_by_name(text: str) -> None:
    outcome = await Talk().say(turn_of(text, "c1:17", captions=[" ", "\x00"]))
    assert isinstance(outcome, Reject)
    assert outcome.input_fault
    assert outcome.reason.startswith("blank: ")
    assert "'c1:17'" in outcome.reason
    assert "acme/u-42" in outcome.reason


async def test_captions_are_text_of_the_turn() -> None:
    alone = await Talk().hear("", captions=["a red\ncar", None, " "])
    assert alone.text == "[a red car]"
    both = await Talk().hear("Look!", captions=["a red car", "a blue bus"])
    assert both.text == "Look!\n[a red car]\n[a blue bus]"
    assert "".join(piece.text for piece in both.pieces) == both.text


async def test_what_is_passed_on_is_clean() -> None:
    message = await Talk().hear("a\x00b", speaker="M\x00ia", captions=["c\x00d"])
    assert (message.turn.text, message.turn.speaker.name, message.turn.attachments[0].caption) == ("ab", "Mia", "cd")
    assert "\\u0000" not in message.model_dump_json()


@pytest.mark.parametrize(("length", "taken"), [(100, True), (101, False)])
async def test_the_limit_is_named(length: int, *, taken: bool) -> None:
    talk = Talk(Normalize(DigestEmbedder(), MemoryHistory(), max_text=100))
    outcome = await talk.say("a" * length, "c1:17")
    assert isinstance(outcome, Emit if taken else Reject)
    if isinstance(outcome, Reject):
        assert all(part in outcome.reason for part in ("100", "101", "'c1:17'", "acme/u-42", "several turns"))


PROSE = "The garden has a small gate. We painted it green last spring, and it still looks new. "


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        (PROSE * 60, (".",)),
        ("word " * 3000, ("word",)),
        ("字" * 3000, ("字",)),
        ("我们昨天去了公园。" * 300, ("。",)),
        ("https://example.org/" + "a1b2" * 900, ("a", "1", "b", "2")),
    ],
)
def test_over_long_texts_are_cut_where_it_hurts_least(text: str, ends: tuple[str, ...]) -> None:
    pieces = [span.of(text) for span in cut(text)]
    assert len(pieces) > 3
    assert all(piece.endswith(ends) for piece in pieces)
    assert max(map(len, pieces)) <= 840
    assert "".join("".join(pieces).split()) == "".join(text.split())


def test_pieces_do_not_change_with_what_follows() -> None:
    text = PROSE * 40
    assert cut(text)[:2] == cut(text + PROSE * 40)[:2]


async def test_pieces_have_the_vectors_of_their_texts_as_spoken() -> None:
    talk = Talk()
    message = await talk.hear(PROSE * 60)
    vectors = await talk.stage.embedder.embed([spoken(message.turn.speaker, piece.text) for piece in message.pieces])
    assert [piece.vector for piece in message.pieces] == vectors
    assert all(piece.text == piece.span.of(message.text) for piece in message.pieces)


async def test_prepare_warms_what_decide_asks_for_and_minds_no_refusals() -> None:
    talk = Talk()
    embedder = talk.stage.embedder
    assert isinstance(embedder, DigestEmbedder)
    turns = [
        turn_of(text, f"t{number}") for number, text in enumerate(["Hello\x00 you.", "", PROSE * 30, "x" * 1_000_001])
    ]
    await talk.stage.prepare([talk.numbered(turn) for turn in turns])
    assert len(embedder.calls) == 1
    warmed = set(embedder.calls[0])
    for turn in turns:
        outcome = await talk.say(turn)
        assert isinstance(outcome, Reject) or (isinstance(outcome.message, Normalized) and outcome.message.pieces)  # type: ignore[union-attr]
    assert {text for call in embedder.calls[1:] for text in call} == warmed


async def test_an_over_long_megabyte_is_taken() -> None:
    message = await Talk().hear((PROSE * 12_000)[:1_000_000])
    assert len(message.pieces) > 1000
    assert len(message.z.facts) < 100
