from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stages.text.sentences import _boundaries, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t ", []),
        ("One.", ["One."]),
        ("Hello there. How are you?  Fine!", ["Hello there.", "How are you?", "Fine!"]),
        (
            "Dr. Smith paid 3.50 at 5 p.m. today. Then he left.",
            ["Dr. Smith paid 3.50 at 5 p.m. today.", "Then he left."],
        ),
        ("J. K. Rowling wrote it. I read it.", ["J. K. Rowling wrote it.", "I read it."]),
        (
            "I read “Becoming Nicole.” It's great!! 😀 Loved it.",
            ["I read “Becoming Nicole.”", "It's great!!", "😀 Loved it."],
        ),
        ("first line\nsecond line", ["first line", "second line"]),
        (
            "To buy:\n- milk\n- two eggs. Fresh ones.\n\n1. go",
            ["To buy:", "- milk", "- two eggs.", "Fresh ones.", "1. go"],
        ),
        (
            "This is a line of a mail that was wrapped by somebody's client\nright here, not at its end.",
            ["This is a line of a mail that was wrapped by somebody's client\nright here, not at its end."],
        ),
        ("我喜欢这本书。你呢\uff1f《三体》很好\uff01", ["我喜欢这本书。", "你呢\uff1f", "《三体》很好\uff01"]),
        ("これは本です。あれも\uff01", ["これは本です。", "あれも\uff01"]),
        ("مرحبا. كيف حالك؟ بخير", ["مرحبا.", "كيف حالك؟", "بخير"]),
        ("भारत महान है। हाँ जी।", ["भारत महान है।", "हाँ जी।"]),
        ("1. Go. And then?\n2) Stop", ["1. Go.", "And then?", "2) Stop"]),
        ("a\ud800b. c", ["a\ud800b.", "c"]),
    ],
)
def test_sentences_of_many_scripts(text: str, expected: list[str]) -> None:
    assert [span.of(text) for span in sentences(text)] == expected


def test_text_that_the_native_code_panics_at_is_split_at_its_full_stops() -> None:
    text = "K\u2028. We went. Then?"
    assert [text[start:end] for start, end in _boundaries(text)] == ["K\u2028.", " We went.", " Then?"]
    assert "".join("".join(span.of(text).split()) for span in sentences(text)) == "K.Wewent.Then?"


def test_a_long_line_is_split_as_its_parts_are() -> None:
    line = "We met on Monday at noon. It was raining then! " * 1000
    assert {span.of(line) for span in sentences(line)} == {"We met on Monday at noon.", "It was raining then!"}
    assert len(sentences(line)) == 2000


@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from(list(" \n\t.!?。'\"()-*1aK\u2028\u3000")))))
def test_every_visible_character_is_in_one_sentence(text: str) -> None:
    spans = sentences(text)
    assert all(left.end <= right.start for left, right in pairwise(spans))
    assert "".join("".join(span.of(text).split()) for span in spans) == "".join(text.split())
    assert all(span.of(text) == span.of(text).strip() for span in spans)


@pytest.mark.parametrize("unit", ["word ", "a", "。", "Hi there. ", '"(x. ', "- a\n", "\n", "é", "`", "'", '"'])
def test_time_grows_with_the_text_and_not_with_its_square(unit: str) -> None:
    def seconds(length: int) -> float:
        text = (unit * length)[:length]
        begin = time.process_time()  # the process's own time: what others do on the machine doesn't count
        sentences(text)
        return time.process_time() - begin

    seconds(1_000)
    small, large = seconds(50_000), seconds(500_000)
    assert large < 40 * small + 1  # 100 times as much where it is quadratic
