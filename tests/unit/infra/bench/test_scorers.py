"""Scores against examples worked out by hand from their definitions; the working stands beside each."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.bench.scorers import (
    CATEGORIES,
    bleu_1,
    choice,
    locomo_f1,
    multi_f1,
    normalized,
    options,
    refusal,
    stem,
    token_f1,
)

PHRASES = st.text(alphabet="abcd ,;.-'é中", max_size=30)
WORDS = st.lists(st.sampled_from("red green blue barn hens bicycle running ran 1,250 7".split()), max_size=8)
SAID = WORDS.map(" ".join)


@pytest.mark.parametrize(
    ("word", "original"),
    [  # from the tables of Porter 1980, step by step
        *[("caresses", "caress"), ("ponies", "poni"), ("ties", "ti"), ("cats", "cat")],  # 1a
        *[("feed", "feed"), ("agreed", "agre"), ("plastered", "plaster"), ("bled", "bled")],  # 1b, final e by 5a
        *[("motoring", "motor"), ("sing", "sing"), ("hopping", "hop"), ("filing", "file"), ("falling", "fall")],
        *[("happy", "happi"), ("sky", "sky")],  # 1c
        *[("relational", "relat"), ("rational", "ration"), ("digitizer", "digit"), ("operator", "oper")],  # 2
        *[("hopefulness", "hope"), ("triplicate", "triplic"), ("electrical", "electr"), ("goodness", "good")],  # 3
        *[("revival", "reviv"), ("adjustable", "adjust"), ("adoption", "adopt"), ("effective", "effect")],  # 4
        *[("probate", "probat"), ("rate", "rate"), ("cease", "ceas"), ("roll", "roll")],  # 5
        # where Snowball English, the successor, says otherwise: day, enjoy, news, generous, skies -> sky
        *[("day", "dai"), ("enjoy", "enjoi"), ("news", "new"), ("generously", "gener"), ("skies", "ski")],
        *[("is", "is"), ("us", "us")],  # too short: Porter's later programs
    ],
)
def test_the_stemmer_is_the_original_one(word: str, original: str) -> None:
    assert stem(word) == original


@pytest.mark.parametrize(
    ("text", "stems"),
    [
        ("The Cats, and a dog.", ["cat", "dog"]),
        ("1,250 euros", ["1250", "euro"]),  # the comma leaves no space
        ("well-known", ["wellknown"]),  # nor does the hyphen
        ("a-and-b", ["aandb"]),  # punctuation goes first, so no "and" is left to go
        ("Anna's thesis", ["anna", "thesi"]),  # annas -> anna
        ("“Dune”", ["“dune”"]),  # ASCII punctuation only
        ("the", []),
        ("", []),
    ],
)
def test_normalization(text: str, stems: list[str]) -> None:
    assert normalized(text) == stems


@pytest.mark.parametrize(
    ("answer", "gold", "f1"),
    [
        ("a red bicycle", "The red bicycle.", 1.0),
        ("bicycle", "red bicycle", 2 / 3),  # P 1/1, R 1/2: 2 * 1 * .5 / 1.5
        ("a red bicycle from Utrecht", "red bicycle", 2 / 3),  # P 2/4, R 2/2: 2 * .5 * 1 / 1.5
        ("red red red", "red barn", 2 / 5),  # one "red" in common: P 1/3, R 1/2: 2 * (1/6) / (5/6)
        ("running shoes", "run", 2 / 3),  # stems: run shoe / run
        ("7 May 2023", "May 7, 2023", 1.0),  # order doesn't count
        ("blue", "red", 0.0),
        ("", "red", 0.0),
        ("red", "", 0.0),
        ("", "", 0.0),  # nothing in common, as in the official evaluation
        ("the", "a", 0.0),
    ],
)
def test_f1(answer: str, gold: str, f1: float) -> None:
    assert token_f1(answer, gold) == pytest.approx(f1)


@pytest.mark.parametrize(
    ("answer", "gold", "f1"),
    [
        ("hens, bees", "bees, hens", 1.0),
        ("hens", "hens, bees", 0.5),  # (1 + 0) / 2
        ("hens and bees", "hens, bees", 2 / 3),  # one part of 2 stems against each: 2*1/(2+1) = 2/3, twice
        ("hens, bees, goats", "hens, bees", 1.0),  # what is said beyond the gold parts costs nothing
        ("two hens, bees", "hens, honey bees, cow", 4 / 9),  # (2/3 + 2/3 + 0) / 3
        ("1,250", "1,250", 1.0),  # a number in two parts, found twice
        ("", "hens, bees", 0.0),
    ],
)
def test_f1_of_several_answers(answer: str, gold: str, f1: float) -> None:
    assert multi_f1(answer, gold) == pytest.approx(f1)


@pytest.mark.parametrize(
    ("category", "answer", "gold", "score"),
    [
        (1, "hens", "hens, bees", 0.5),
        (2, "hens", "hens, bees", 2 / 3),  # one answer of two stems
        (4, "hens", "hens, bees", 2 / 3),
        (3, "yes", "Yes; she said that she loves hens", 1.0),
        (4, "yes", "Yes; she hens", 1 / 2),  # 2*1/(1+3): only the third category has alternatives
        (5, "No information available.", "hens", 1.0),
        (5, "That is NOT MENTIONED in the conversation", "hens", 1.0),
        (5, "hens", "hens", 0.0),
        (5, "I don't know", "hens", 0.0),  # the two phrases only
        (5, "", "", 0.0),
    ],
)
def test_each_category_its_own_way(category: int, answer: str, gold: str, score: float) -> None:
    assert locomo_f1(category, answer, gold) == pytest.approx(score)


@pytest.mark.parametrize("category", [0, 6, -1])
def test_an_unknown_category_is_refused(category: int) -> None:
    with pytest.raises(ValueError, match=f"categories are 1 to 5, got {category}"):
        locomo_f1(category, "a", "b")


def test_always_refusing_is_right_of_what_was_never_said_and_of_nothing_else() -> None:
    said = "No information available"
    assert [locomo_f1(category, said, "7 May 2023") for category in CATEGORIES] == [0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("answer", "gold", "bleu"),
    [
        ("a red bicycle", "A red bicycle", 1.0),
        ("red bicycle", "a red bicycle", math.exp(1 - 3 / 2)),  # precision 2/2, shorter: e^-0.5
        ("the the the", "the cat", 1 / 3),  # clipped to one "the" of three; longer, no penalty
        ("a blue bicycle", "a red bicycle", 2 / 3),  # as long as the reference: e^0
        ("red", "a red bicycle .", math.exp(-3)),  # 1/1 * e^(1 - 4)
        ("red bicycle.", "red bicycle", 2 / 3),  # a sign is a token
        ("runs", "run", 0.0),  # no stems
        ("", "red", 0.0),
        ("red", "", 0.0),
    ],
)
def test_bleu(answer: str, gold: str, bleu: float) -> None:
    assert bleu_1(answer, gold) == pytest.approx(bleu)


@pytest.mark.parametrize(
    ("answer", "correct", "score"),
    [
        ("<final_answer>(c)", "(c)", 1.0),
        ("<final_answer> (C) </final_answer>", "c", 1.0),
        ("It could be (a), but I think <final_answer>(c)", "(c)", 1.0),
        ("<final_answer>(a) no, <final_answer>(c)", "(c)", 1.0),  # the last mark
        ("c", "(c)", 1.0),
        ("Answer: C.", "(c)", 1.0),
        ("(c) is better than b", "(c)", 1.0),  # parentheses first
        ("<final_answer>(b)", "(c)", 0.0),
        ("(a) or (c)", "(c)", 0.0),  # not one choice
        ("a better one is c", "(c)", 0.0),  # the article is an option, as in the protocol
        ("<final_answer>", "(c)", 0.0),
        ("I choose (c). <final_answer>", "(c)", 1.0),  # the whole answer, since what follows the mark names none
        ("cab", "(c)", 0.0),
        ("(e)", "(c)", 0.0),
        ("", "(c)", 0.0),
    ],
)
def test_a_choice_in_free_text(answer: str, correct: str, score: float) -> None:
    assert choice(answer, correct) == score


@pytest.mark.parametrize("correct", ["", "(e)", "ab", "(a) (b)"])
def test_a_right_option_is_one_letter(correct: str) -> None:
    with pytest.raises(ValueError, match="a letter from a to d"):
        choice("(a)", correct)


@given(PHRASES, PHRASES)
def test_f1_lies_between_0_and_1_and_has_no_side(answer: str, gold: str) -> None:
    assert 0 <= token_f1(answer, gold) == token_f1(gold, answer) <= 1


@given(SAID, SAID, st.sampled_from(CATEGORIES))
def test_every_score_lies_between_0_and_1(answer: str, gold: str, category: int) -> None:
    for score in (locomo_f1(category, answer, gold), bleu_1(answer, gold), refusal(answer), choice(answer, "a")):
        assert 0 <= score <= 1


@given(SAID.filter(bool))
def test_the_gold_answer_itself_scores_1_and_nothing_scores_0(gold: str) -> None:
    assert token_f1(gold, gold) == multi_f1(gold, gold) == bleu_1(gold, gold) == 1
    assert token_f1("", gold) == multi_f1("", gold) == bleu_1("", gold) == 0


@given(WORDS.flatmap(lambda words: st.tuples(st.just(words), st.permutations(words))))
def test_order_and_case_do_not_count(pair: tuple[list[str], list[str]]) -> None:
    words, other = pair
    assert token_f1(" ".join(other).upper(), " ".join(words)) == float(bool(words))


@given(SAID, SAID, SAID.filter(bool))
def test_more_words_never_help_bleu_of_an_answer_that_is_long_enough(answer: str, gold: str, more: str) -> None:
    long_enough = f"{gold} {answer}"
    assert bleu_1(f"{long_enough} {more}", gold) <= bleu_1(long_enough, gold)


@given(st.sampled_from("abcd"), st.sampled_from("abcd"))
def test_always_the_same_letter_is_right_where_it_is_right(said: str, correct: str) -> None:
    assert choice(f"({said})", f"({correct})") == float(said == correct)
    assert options(f"({said})") == {said}
