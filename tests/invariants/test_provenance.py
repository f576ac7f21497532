"""Invariant 11: every memory record names the turns that it rests on; a record without one cannot be built.

Each turn of the check's log says a number of its own, so that a record shows by its text which turns it rests on.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from schemas import memory
from schemas.memory import ITEM_KINDS, RecordKind, RecordRow
from schemas.space import Space
from stages.commit import Commit
from stages.route import Route
from streams.stopped import BrokenOrder
from tests.fakes.index_rows import record
from tests.fakes.mutations import Install, Mutation, each, rewriting
from tests.fakes.real_home import BEN, BOT, MIA, SPACE, RealHome, said

LONG = "We carried 70 crates of herring. " * 60
SPOKEN = [
    (MIA, "I own 10 red cars."),
    (BEN, "My sister lives in house number 20."),
    (MIA, "Please book the dentist for 30 minutes."),
    (BOT, "Booked the dentist appointment 40 for Thursday."),
    (MIA, "No, I said 50 minutes."),
    (BEN, "Yesterday I bought 60 herrings at the harbour."),
    (MIA, LONG),
    (BEN, "I love jazz from 1980."),
    (MIA, "I live in house 90 in Oslo."),
]
LOG = [said(f"t{n}", text, minutes=9 * n, speaker=who) for n, (who, text) in enumerate(SPOKEN)]
REVISED = said("t1", "My sister lives in house number 25.", minutes=100, speaker=BEN, revision=1)
NUMBERS = {f"t{n}": set(re.findall(r"\d+", text)) for n, (_, text) in enumerate(SPOKEN)}
NUMBERS["t1"].add("25")


async def check(folder: Path) -> None:
    """Every record names turns, and those whose words it holds."""
    home = RealHome(folder)
    await home.tell([*LOG, REVISED])
    records = home.records()
    assert {one.kind for one in records} >= {RecordKind.TURN, RecordKind.WINDOW, RecordKind.TOPIC}, "kinds are missing"
    assert sum(one.kind in ITEM_KINDS for one in records) >= len(LOG) - 2, "items are missing"
    assert any(one.piece for one in records), "no turn has pieces"
    for one in records:
        assert one.provenance, "a record rests on nothing"
        assert NUMBERS.keys() >= set(one.provenance), "a record rests on no turn of the space"
        named = {number for turn_id in one.provenance for number in NUMBERS[turn_id]}
        assert shown(own_words(one)) <= named, f"{kind(one)}: a turn is shown that is not named"
        if one.kind is RecordKind.WINDOW:
            assert len(one.provenance) == one.text.count("\n") + 1, "a window names a turn that it does not show"
        elif one.kind is RecordKind.TURN or (one.kind in ITEM_KINDS and one.text == own_words(one)):
            assert len(one.provenance) == 1, f"{kind(one)}: a turn is named that it is not of"


def kind(one: RecordRow) -> str:
    return "item" if one.kind in ITEM_KINDS else one.kind.value


def shown(text: str) -> set[str]:
    """Return the numbers of the log that a text holds."""
    return set(re.findall(r"\d+", text)) & set().union(*NUMBERS.values())


def own_words(one: RecordRow) -> str:
    """Return the text of a record without what a correction quotes of the statement that it puts right."""
    return one.text.partition(" (about: ")[0]


def check_schema() -> None:
    """Neither none nor an empty list of turns makes a record."""
    fields = record(Space(SPACE), 0).model_dump(exclude={"provenance"})
    for given in ({}, {"provenance": ()}):
        assert _refusal(fields | given) is not None, "a record without provenance can be built"
        assert "provenance" in str(_refusal(fields | given)), "it is refused for another reason"
    assert _refusal(fields | {"provenance": ("t0",)}) is None, "a record cannot be built at all"


def _refusal(fields: dict[str, Any]) -> ValidationError | None:
    try:
        memory.RecordRow(**fields)
    except ValidationError as error:
        return error
    return None


async def test_every_record_names_its_turns(tmp_path: Path) -> None:
    await check(tmp_path)


async def test_a_correction_names_the_turn_that_it_quotes(tmp_path: Path) -> None:
    home = RealHome(tmp_path)
    await home.tell(LOG)
    (quoting,) = [one for one in home.records() if one.kind in ITEM_KINDS and one.text != own_words(one)]
    assert shown(quoting.text) <= {number for turn_id in quoting.provenance for number in NUMBERS[turn_id]}


def test_a_record_without_provenance_cannot_be_built() -> None:
    check_schema()


def naming(stage: type[Any], *kinds: RecordKind, names: Callable[[RecordRow], tuple[str, ...]]) -> Install:
    """Let a stage put other turns into the provenance of records of these kinds."""

    def renamed(row: Any) -> Any:
        named = getattr(row, "kind", None) in kinds
        return row.model_copy(update={"provenance": names(row)}) if named else row

    return rewriting(stage, renamed)


def optional(patch: pytest.MonkeyPatch) -> None:
    class Loose(RecordRow):
        provenance: tuple[str, ...] = ()

    patch.setattr(memory, "RecordRow", Loose)


@each(
    Mutation(
        "items are written without provenance",
        naming(Route, *ITEM_KINDS, names=lambda _row: ()),
        "provenance: Tuple should have at least 1 item",
        BrokenOrder,
    ),
    Mutation(
        "items name another turn",
        naming(Route, *ITEM_KINDS, names=lambda row: ("t0" if row.provenance[0] != "t0" else "t2",)),
        "item: a turn is shown that is not named",
    ),
    Mutation(
        "windows name only their anchor",
        naming(Commit, RecordKind.WINDOW, names=lambda row: row.provenance[:1]),
        "window: a turn is shown that is not named",
    ),
    Mutation(
        "windows name more than they show",
        naming(Commit, RecordKind.WINDOW, names=lambda row: tuple(dict.fromkeys((*row.provenance, "t8", "t0")))),
        "a window names a turn that it does not show",
    ),
    Mutation(
        "turns name a neighbour too",
        naming(Route, RecordKind.TURN, names=lambda row: (*row.provenance, "t8", "t0")),
        "turn: a turn is named that it is not of",
    ),
    Mutation(
        "items name a neighbour too",
        naming(Route, *ITEM_KINDS, names=lambda row: tuple(dict.fromkeys((*row.provenance, "t8", "t0")))),
        "item: a turn is named that it is not of",
    ),
    Mutation(
        "records name what is no turn",
        naming(Commit, RecordKind.WINDOW, names=lambda row: (row.id,)),
        "a record rests on no turn of the space",
    ),
)
async def test_other_provenance_is_caught(tmp_path: Path, mutation: Mutation) -> None:
    with mutation.put_in():
        await check(tmp_path)


@each(Mutation("the schema takes records without provenance", optional, "a record without provenance can be built"))
def test_a_loose_schema_is_caught(mutation: Mutation) -> None:
    with mutation.put_in():
        check_schema()
