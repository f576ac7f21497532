"""Invariant 7: a stage's state is small, flat, without full texts, written in small parts, and never torn.

The first check lets a space live through several times W and weighs what is stored of each stage after every turn. W
and the numbers of turns and messages kept are made small, so that a short log goes beyond them. The checks of crowds
feed one stage turns of ever new speakers: what it keeps of them must not add up either.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from schemas.control import Control, Passed
from schemas.header import EventKind, Header
from schemas.memory import ITEM_KINDS, RecordRow
from schemas.space import Space
from stages.commit import state as commit_state
from stages.commit import windows
from stages.extract_per_view import ExtractPerView
from stages.extract_per_view import state as extract_state
from stages.localize_state import LocalizeState, forest
from stages.ring import Ring
from stages.route import Route, RouteState, consolidating, working
from streams import state as states
from streams.codec import decode_event
from streams.effects import Cut
from streams.journal import Journal
from streams.state import HEADER, Counts, Saved, StateHeader, StateRow
from tests.fakes.busy import NoHistory, extracted, localized, longest
from tests.fakes.crowd import Weights, check_crowd, newcomers
from tests.fakes.embedder import DigestEmbedder
from tests.fakes.mutations import Install, Mutation, each
from tests.fakes.narrow import narrow
from tests.fakes.nights import published, topic
from tests.fakes.real_home import BEN, BOT, MIA, RealHome, said

TURNS = 36
NIGHT, PARTS = 60, 40
"""Turns of twelve items each, and parts of a night that makes sixteen topics of the newest twenty turns each time."""

Check = Callable[[], Awaitable[None]]

TAIL = "so ends turn"
"""The last words of every text, beyond what a state may keep of it."""

LOG = [
    said(f"t{n}", f"I own a cello, {n}{' and so on and so forth' * 24} {TAIL} {n}.", minutes=n, speaker=speaker)
    for n, speaker in enumerate([MIA, BEN, BOT] * (TURNS // 3))
]


async def check_life(folder: Path) -> None:
    """Turn after turn the state of every stage stays as large as it was."""
    home, weights = RealHome(folder), Weights()
    with pytest.MonkeyPatch.context() as patch:
        narrow(patch)
        for event in LOG:
            await home.tell([event])
            for stage, saved in home.states().items():
                weights.weigh(stage, saved)
                held = b"".join(saved.parts.values())
                assert TAIL.encode() not in held, f"a full text is kept by {stage}"
    weights.check()


async def check_channel() -> None:
    """Working memory of ``route`` loses who has long been silent."""
    with pytest.MonkeyPatch.context() as patch:
        narrow(patch)
        await check_crowd(Route(NoHistory()), await extracted(TURNS))


async def check_parties() -> None:
    """``extract_per_view`` asks only whether there are two, so it need not know all."""
    with pytest.MonkeyPatch.context() as patch:
        narrow(patch)
        await check_crowd(ExtractPerView(DigestEmbedder(), NoHistory()), await localized(TURNS, sentences=2))


async def check_long_names() -> None:
    """``localize_state`` keeps what fits of turns, tips and people whose names and ids are long."""
    await check_crowd(LocalizeState(NoHistory()), await newcomers(longest("x", 100)))


async def check_branches() -> None:
    """``localize_state`` keeps tips of so many branches and no more, even if all of them would fit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forest, "TIP_BYTES", 10**6)
        await check_crowd(LocalizeState(NoHistory()), await newcomers(lambda kind, number: f"{kind}{number}"))


async def check_night() -> None:
    """``route`` remembers what fits of a night that decides without end."""
    stage, state, known = Route(NoHistory()), RouteState(), list[RecordRow]()
    for turn in await extracted(NIGHT, longest("x")):
        told = await stage.decide(turn, state)
        state, rows = told.state, told.message.rows
        known += [row for row in rows if row.row == "record" and row.kind in ITEM_KINDS]
    for part in range(PARTS):
        decisions = [topic(f"{part} {n}", *known[n % 12 - 240 :: 12]) for n in range(16)]
        control = decode_event(published("acme/u-42", f"r{part}", *decisions))
        assert isinstance(control, Control)
        position = NIGHT + part
        header = Header(
            space=control.space, position=position, kind=EventKind.CONTROL, event_id=control.event_id, offset=position
        )
        state = (await stage.decide(Passed(header=header, control=control), state)).state
        held = sum(map(len, state.parts().values()))
        assert held <= 64 * 1024, f"not small: route keeps {held} bytes of a night"


def check_torn(folder: Path) -> None:
    """A save that breaks off after any of its rows leaves the state before it."""
    journal = Journal(folder / "log.sqlite")
    saved = states.EMPTY
    try:
        for turn in range(8):
            parts = {"a": bytes([turn]), "b": bytes([turn // 2]), f"c{turn // 3}": b"c"}
            after, rows = states.save(saved, _header(turn), parts)
            for number, row in enumerate(rows, start=1):
                with journal.transaction():
                    journal.write_state(Cut("route", Space("acme/u-1"), state=[row]))
                expected = after if number == len(rows) else saved
                assert _loaded(journal) == (expected.header, expected.parts), "a torn save shows"
            saved = after
    finally:
        journal.close()


def _header(turn: int) -> StateHeader:
    header = Header(space=Space("acme/u-1"), position=turn, kind=EventKind.TURN, event_id=f"t{turn}", offset=turn)
    return StateHeader(position=header.position, offset=header.offset)


def _loaded(journal: Journal) -> tuple[StateHeader, Mapping[str, bytes]] | str:
    try:
        loaded = states.load(journal.state("route", "acme/u-1"))
    except ValueError as error:
        return str(error)
    return loaded.header, loaded.parts


async def test_states_stay_bounded(tmp_path: Path) -> None:
    await check_life(tmp_path)


@pytest.mark.parametrize("check", [check_channel, check_parties, check_long_names, check_branches])
async def test_speakers_do_not_add_up(check: Check) -> None:
    await check()


def test_a_torn_save_shows_nowhere(tmp_path: Path) -> None:
    check_torn(tmp_path)


async def test_a_night_does_not_add_up() -> None:
    await check_night()


def endless(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(consolidating, "ROOM", 10**9)


@each(Mutation("a night is remembered whole", endless, "not small: route keeps"))
async def test_a_growing_night_is_caught(mutation: Mutation) -> None:
    with mutation.put_in():
        await check_night()


def never_forgotten(patch: pytest.MonkeyPatch) -> None:
    push = Ring.push
    patch.setattr(Ring, "push", lambda ring, *entries, keep_from: push(ring, *entries, keep_from=-1))


def full_texts(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(windows, "clip", lambda text, *_: text)


def all_turns(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(commit_state, "lasting", len)


def all_ids(patch: pytest.MonkeyPatch) -> None:
    seen = StateHeader.seen

    def seen_all(header: StateHeader, position: int, offset: int, event_id: str, counts: Counts) -> StateHeader:
        after = seen(header, position, offset, event_id, counts)
        return after.model_copy(update={"ids": header.ids + states.id_hash(event_id)})

    patch.setattr(StateHeader, "seen", seen_all)


def one_part(patch: pytest.MonkeyPatch) -> None:
    parts = Ring.parts
    patch.setattr(Ring, "parts", lambda ring, name, _size=0: parts(ring, name, 10**6))


@each(
    Mutation("rings never forget", never_forgotten, "not flat: parts of"),
    Mutation("commit keeps every turn", all_turns, "not flat: parts of commit"),
    Mutation("commit keeps full texts", full_texts, "a full text is kept by commit"),
    Mutation("the header keeps every id", all_ids, "not flat: header of"),
    Mutation("a ring is one part", one_part, "much is written a turn: last save of"),
)
async def test_growth_is_caught(tmp_path: Path, mutation: Mutation) -> None:
    with mutation.put_in():
        await check_life(tmp_path)


def everybody(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(working.Working, "without_silent", lambda queues, *_: (queues, ()))
    patch.setattr(working, "PARTICIPANTS", 10**6)


def everyone_a_party(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(extract_state, "MAX_PARTIES", 10**6)


def unlimited(limit: str) -> Install:
    """Take a limit of the forest away."""
    return lambda patch: patch.setattr(forest, limit, 10**6)


@each(Mutation("everybody stays in working memory", everybody, "not flat: parts of route"))
async def test_a_growing_crowd_is_caught(mutation: Mutation) -> None:
    with mutation.put_in():
        await check_channel()


@each(Mutation("everybody stays a party", everyone_a_party, "not flat: parts of extract_per_view"))
async def test_growing_parties_are_caught(mutation: Mutation) -> None:
    with mutation.put_in():
        await check_parties()


@each(
    Mutation("the window keeps whatever size", unlimited("SEEN_BYTES"), "not small: parts of localize_state"),
    Mutation("tips have whatever size", unlimited("TIP_BYTES"), "not small: parts of localize_state"),
    Mutation("everybody stays known", unlimited("PERSON_BYTES"), "not small: parts of localize_state"),
)
async def test_a_growing_forest_is_caught(mutation: Mutation) -> None:
    with mutation.put_in():
        await check_long_names()


@each(Mutation("the tip of every branch stays", unlimited("MOST_TIPS"), "not small: parts of localize_state"))
async def test_growing_branches_are_caught(mutation: Mutation) -> None:
    with mutation.put_in():
        await check_branches()


def header_first(patch: pytest.MonkeyPatch) -> None:
    save = states.save

    def saved(*given: Any) -> tuple[Saved, list[StateRow]]:
        after, rows = save(*given)
        return after, rows[::-1]

    patch.setattr(states, "save", saved)


def one_copy(patch: pytest.MonkeyPatch) -> None:
    save = states.save

    def saved(*given: Any) -> tuple[Saved, list[StateRow]]:
        after, rows = save(*given)
        named = {name: (0, version) for name, (_slot, version) in after.header.parts.items()}
        header = after.header.model_copy(update={"parts": named})
        body = header.model_dump_json().encode()
        parts = [StateRow(row.part, 0, row.version, row.data) for row in rows if row.part != HEADER]
        return Saved(header, after.parts), [*parts, StateRow(HEADER, 0, header.version, body)]

    patch.setattr(states, "save", saved)


def newest_copies(patch: pytest.MonkeyPatch) -> None:
    load = states.load

    def loaded(rows: Iterable[StateRow]) -> Saved:
        ordered = sorted(rows, key=lambda row: row.version)
        saved = load(ordered)
        newest = {row.part: row.data for row in ordered if row.part != HEADER}
        return Saved(saved.header, {name: newest[name] for name in saved.parts})

    patch.setattr(states, "load", loaded)


@each(
    Mutation("the header is written before its parts", header_first, "a torn save shows"),
    Mutation("a part has one copy", one_copy, "a torn save shows"),
    Mutation("the loader takes the newest copies", newest_copies, "a torn save shows"),
)
def test_a_torn_state_is_caught(tmp_path: Path, mutation: Mutation) -> None:
    with mutation.put_in():
        check_torn(tmp_path)
