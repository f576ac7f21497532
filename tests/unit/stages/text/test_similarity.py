"""Integer similarity: dot products, thousandths, overlap of token sets."""

from __future__ import annotations

import pytest

from stages.text.similarity import FULL, dot, dots, overlap, permille


def int8(*values: int) -> bytes:
    return b"".join(value.to_bytes(1, "big", signed=True) for value in values)


def test_products_are_of_signed_bytes() -> None:
    assert dot(int8(127, -128), int8(-1, 2)) == -127 - 256
    assert dots(int8(1, -2), [int8(3, 4), int8(-128, 127)]) == [-5, -128 - 254]
    assert dots(int8(1), []) == []


def test_vectors_of_two_models_are_refused_with_both_dimensions() -> None:
    with pytest.raises(ValueError, match="vectors of 2 and 3 dimensions"):
        dot(int8(1, 2), int8(1, 2, 3))


@pytest.mark.parametrize(
    ("product", "thousandths"), [(FULL, 1000), (0, 0), (-FULL, -1000), (FULL // 2, 500), (8, 0), (9, 1)]
)
def test_thousandths_are_rounded_half_up(product: int, thousandths: int) -> None:
    assert permille(product) == thousandths


@pytest.mark.parametrize(
    ("left", "right", "thousandths"),
    [("ab", "ab", 1000), ("ab", "bc", 333), ("ab", "cd", 0), ("", "", 0), ("aab", "ab", 1000)],
)
def test_overlap_is_of_sets(left: str, right: str, thousandths: int) -> None:
    assert overlap(left, right) == thousandths
