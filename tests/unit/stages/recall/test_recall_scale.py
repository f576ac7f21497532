from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stages.recall.scale import UNIT, Scale

SCORES = st.lists(st.integers(-20_000, 20_000), min_size=1, max_size=200)


@pytest.mark.parametrize(
    ("scores", "score", "standardized"),
    [
        ([1, 2, 3], 2, 0),
        ([0, 10], 10, 1000),
        ([0, 10], 0, -1000),
        ([0, 10], 20, 3000),
        ([7, 7, 7], 7, 0),
        ([7], 90, 0),
    ],
)
def test_scores_in_thousandths_of_a_deviation(scores: list[int], score: int, standardized: int) -> None:
    assert Scale.of(scores)(score) == standardized


def test_an_empty_list_scores_nothing() -> None:
    assert Scale.of([]).floor == 0


@given(SCORES, st.integers(-20_000, 20_000), st.integers(-20_000, 20_000))
def test_order_is_kept(scores: list[int], one: int, other: int) -> None:
    scale = Scale.of(scores)
    assert scale(min(one, other)) <= scale(max(one, other))


@given(SCORES)
def test_what_was_not_found_scores_as_the_last(scores: list[int]) -> None:
    scale = Scale.of(scores)
    assert scale.floor == min(scale(score) for score in scores) <= 0


@given(st.lists(st.integers(-16_129, 16_129), min_size=10, max_size=200, unique=True))
def test_mean_and_deviation_are_zero_and_one(scores: list[int]) -> None:
    scale = Scale.of(scores)
    values = [scale(score) for score in scores]
    assert abs(sum(values)) <= 2 * len(values)
    assert abs(sum(value**2 for value in values) / len(values) / UNIT**2 - 1) < 0.25
