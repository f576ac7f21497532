from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from infra.qdrant.kept import Kept

NAMES = st.sampled_from("abcdef")
STEPS = st.lists(st.tuples(st.sampled_from(["of", "add", "drop"]), st.sets(NAMES, max_size=4)), max_size=30)


@given(STEPS, st.integers(1, 5))
def test_those_longest_unused_go(steps: list[tuple[str, set[str]]], size: int) -> None:
    kept: Kept[int] = Kept(size)
    used: list[str] = []  # longest unused first
    for number, (step, names) in enumerate(steps):
        asked = sorted(names)
        if step == "of":
            found = kept.of(asked)
            assert list(found) == [name for name in asked if name in used]
            used = [name for name in used if name not in found] + list(found)
        elif step == "drop":
            kept.drop(asked)
            used = [name for name in used if name not in names]
        else:
            kept.add(dict.fromkeys(asked, number))
            used = [*used, *(name for name in asked if name not in used)][-size:]
        assert [name for name in "abcdef" if name in kept] == sorted(used)
