"""Letters: their limit, and the sum that they are part of."""

from __future__ import annotations

from pathlib import Path

import pytest

from schemas.space import Space
from streams.journal import Journal
from streams.letters import Limit
from streams.stopped import TooManyLetters
from tests.fakes.recorder import SPACE
from tests.fakes.runtime import Home, event


def test_letters_are_limited_when_stages_are_to_blame() -> None:
    limit = Limit()
    for i in range(49):
        limit.count("route", Space(f"a/{i % 12}"), refused=True)
    with pytest.raises(TooManyLetters, match="route"):
        limit.count("route", Space("a/x"), refused=True)


@pytest.mark.parametrize(("spaces", "bad"), [(9, 1.0), (50, 0.4), (50, 0.0)])
def test_letters_are_not_limited_for_few_spaces_or_half_good(spaces: int, bad: float) -> None:
    limit = Limit()
    for i in range(300):
        limit.count("route", Space(f"a/{i % spaces}"), refused=i % 10 < 10 * bad)


async def test_counts_make_the_sum(tmp_path: Path) -> None:
    home = Home(tmp_path / "log.sqlite")
    home.publish(SPACE, event(SPACE, "a"), event(SPACE, "a"), event(SPACE, "b", " "), b"junk", event(SPACE, "c"))
    await home.run()
    counts = Journal(home.path).header("normalize", SPACE).counts
    assert (counts.emitted, counts.duplicates, counts.lettered, counts.alone) == (2, 1, 1, 1)
