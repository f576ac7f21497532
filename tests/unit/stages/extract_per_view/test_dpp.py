"""Greedy MAP of a DPP: the optimum that plain determinants give, in every step."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stages.extract_per_view.dpp import greedy_map, kernel, mean_similarity

WIDTH = 12
VECTORS = st.lists(st.binary(min_size=WIDTH, max_size=WIDTH), min_size=2, max_size=14)


def determinant(cosines: np.ndarray, chosen: list[int]) -> float:
    return float(np.linalg.det(cosines[np.ix_(chosen, chosen)]))


@given(VECTORS, st.data())
def test_each_choice_is_the_one_of_greatest_determinant(vectors: list[bytes], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(vectors) - 1))
    cosines = kernel(vectors)
    chosen = greedy_map(cosines, first, 10)
    assert chosen[0] == first
    assert len(set(chosen)) == len(chosen)
    for at in range(1, len(chosen)):
        before = chosen[:at]
        gains = [determinant(cosines, [*before, one]) for one in range(len(vectors)) if one not in before]
        assert determinant(cosines, chosen[: at + 1]) >= max(gains) - 1e-7


@given(VECTORS)
def test_what_is_left_adds_nothing(vectors: list[bytes]) -> None:
    cosines = kernel(vectors)
    chosen = greedy_map(cosines, 0, len(vectors))
    assert all(abs(determinant(cosines, [*chosen, one])) < 1e-6 for one in range(len(vectors)) if one not in chosen)


def test_equal_gains_go_to_the_first_and_equal_texts_are_chosen_once() -> None:
    axes = [bytes(127 if at == axis else 0 for at in range(WIDTH)) for axis in (0, 1, 1, 2, 0)]
    assert greedy_map(kernel(axes), 3, 10) == [3, 0, 1]


def test_it_lowers_the_mean_similarity_against_chance() -> None:
    drawn = np.random.default_rng(7)
    centres = drawn.normal(size=(6, 64)) * 3
    rows = np.concatenate([centre + drawn.normal(size=(20, 64)) for centre in centres])
    rows = rows / np.linalg.norm(rows, axis=1)[:, None] * 127
    cosines = kernel([row.tobytes() for row in np.rint(rows).astype(np.int8)])
    chance = [mean_similarity(cosines, drawn.choice(len(rows), 10, replace=False).tolist()) for _ in range(100)]
    mine = mean_similarity(cosines, greedy_map(cosines, 0, 10))
    assert mine < np.mean(chance) / 2
    assert sum(one <= mine for one in chance) <= 5
