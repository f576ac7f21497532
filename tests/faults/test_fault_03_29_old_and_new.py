"""Elsewhere: on a contradiction the old goes and the new is lost; the raw copy is removed though extraction failed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from infra.memory_api import Memory
from infra.models import HashEmbedder
from schemas.memory import OutcomeState, RecordKind
from stages.contract import Unavailable
from streams.effects import Cut
from streams.embedded import _Ports
from tests.fakes.runtime import Died
from tests.faults.user import (
    SPACE,
    chatter,
    cited,
    hits,
    items,
    lived,
    opened,
    printed,
    records,
    retired,
    rows,
    tell,
    turn,
)

ASKED = "In which city does Mia live, in Oslo or in Berlin?"
CHANGE = [turn("old", "I live in Oslo."), *chatter(21), turn("new", "I moved to Berlin.", day=2)]
CHANGE += chatter(24, 40, day=3)
CORRECTION = [
    turn("old", "The electrician comes to Oslo on Thursday."),
    turn("m1", "The floor is cold."),
    turn("new", "No, I said Tuesday."),
]


async def readable(memory: Memory, question: str, **more: Any) -> set[str]:
    """Return which of the two turns a question finds."""
    return {"old", "new"} & set(await cited(memory, question, **more))


@pytest.mark.parametrize(
    ("talk", "question"),
    [(CHANGE, ASKED), (CORRECTION, "When does the electrician come?")],
    ids=["change", "correction"],
)
async def test_fault_03_at_every_position_the_old_or_the_new_is_readable(
    home: Path, talk: list[bytes], question: str
) -> None:
    async with opened(home) as memory:
        await tell(memory, *talk)
        assert len(retired(memory)) == 1
        said = next(turn.position for turn in memory.turns(SPACE) if turn.turn_id == "new")
        assert said is not None
        for position in range(len(talk)):
            found = await readable(memory, question, as_of=position)
            assert "new" in found if position >= said else found == {"old"}, position


class Death:
    """Kills the process at the n-th effect of ``commit``, after it is done or before."""

    def __init__(self, at: int, *, after: bool) -> None:
        self.left, self.after = at, after

    def install(self, patch: pytest.MonkeyPatch) -> None:
        for name in ("outputs", "sink", "offset"):
            patch.setattr(_Ports, name, self._wrapped(getattr(_Ports, name)))

    def _wrapped(self, effect: object) -> object:
        async def wrapped(ports: _Ports, cut: Cut) -> None:
            self.left -= cut.stage == "commit"
            if self.left == 0 and not self.after:
                raise Died
            await effect(ports, cut)  # type: ignore[operator]  # one of the three effects
            if self.left == 0:
                raise Died

        return wrapped


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", [1, 2, 3])
async def test_fault_03_a_death_in_the_middle_of_a_correction_leaves_the_old_or_the_new(
    home: Path, second: Path, at: int, *, after: bool
) -> None:
    calm = await lived(second, *CORRECTION)
    await lived(home, *CORRECTION[:2])
    with pytest.MonkeyPatch.context() as patch:
        Death(at, after=after).install(patch)
        with pytest.raises(Died):
            await lived(home, CORRECTION[2])
    async with opened(home, wait=False) as memory:
        assert await readable(memory, "When does the electrician come?")
    async with opened(home) as memory:
        assert "new" in await readable(memory, "When does the electrician come?")
        assert rows(memory) == calm


class Failing(HashEmbedder):
    """A model that is down, or that a text crashes."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        object.__setattr__(self, "error", error)

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        raise self.error  # type: ignore[attr-defined]  # set above: the class is frozen


async def test_fault_29_what_was_said_outlives_an_extraction_that_does_not_answer(home: Path, second: Path) -> None:
    calm = await lived(second, *CORRECTION)
    async with opened(home, Failing(Unavailable("the model is away"))) as memory:
        with pytest.raises(Unavailable):
            await tell(memory, *CORRECTION)
        assert [turn.turn_id for turn in memory.turns(SPACE)] == ["old", "m1", "new"]
        assert records(memory) == []
    async with opened(home) as memory:
        assert rows(memory) == calm


async def test_fault_29_an_event_that_cannot_be_used_is_kept_as_it_came(home: Path) -> None:
    odd = turn("odd", "   \n\t ")
    async with opened(home) as memory:
        await tell(memory, odd, b"\x00 not even JSON")
        assert [letter.original for letter in memory.letters(SPACE)] == [odd, b"\x00 not even JSON"]
    shown = printed(home, "letters", "list", "--space", SPACE)
    assert [letter["turn_id"] for letter in shown] == ["odd", None]
    assert printed(home, "letters", "show", str(shown[0]["letter_id"]))[0]["original"] == odd.decode()


async def test_fault_29_a_superseded_turn_and_its_text_stay_beside_what_was_made_of_it(home: Path) -> None:
    async with opened(home) as memory:
        await tell(memory, *CORRECTION)
        said = {row.provenance[0]: row.text for row in records(memory, RecordKind.TURN)}
        assert said["old"] == "The electrician comes to Oslo on Thursday."
        assert {turn.state for turn in memory.turns(SPACE)} == {OutcomeState.COMMITTED}
        assert {item.provenance[0] for item in items(memory)} <= set(said)
        assert any("Thursday" in hit.text for hit in await hits(memory, "When does the electrician come?", as_of=1))
