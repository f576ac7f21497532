"""States of a partition as the state topic leaves them: whatever row came last, the furthest state stands."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.space import Space
from streams.kafka.states import States
from streams.kafka.wire import Record, Sent, next_row, state_row
from streams.state import EMPTY, Counts, Saved, StateHeader, StateRow, load, save
from tests.fakes.folders import quick_folder

SPACE = Space("acme/u-1")
TOPIC = "state.route"


async def lying(rows: Sequence[Sent]) -> AsyncIterator[Record]:
    for offset, row in enumerate(rows):
        yield Record(0, offset, row.key, row.value, {})


async def filled(folder: Path, rows: Sequence[Sent]) -> States:
    states = States(folder / "states.sqlite")
    await states.fill(lying(rows))
    return states


def sent(rows: Sequence[StateRow], space: Space = SPACE) -> list[Sent]:
    return [state_row(space, row, TOPIC, 0) for row in rows]


def content(handled: int) -> dict[str, bytes]:
    """A state after so many events: a part that always changes, one that seldom does, and a ring."""
    return {"last": b"%d" % handled, "seldom": b"%d" % (handled // 5), f"ring-{handled % 4}": b"%d" % handled}


class Owner:
    """A worker that believes the space its own: it cuts where it likes."""

    def __init__(self, saved: Saved = EMPTY) -> None:
        self.saved = saved
        self.parts: dict[str, bytes] = dict(saved.parts)

    @property
    def handled(self) -> int:
        return self.saved.header.counts.total

    def cut(self, events: int) -> list[Sent]:
        for number in range(self.handled + 1, self.handled + events + 1):
            self.parts |= content(number)
        total = self.handled + events
        header = StateHeader(position=total - 1, offset=total - 1, counts=Counts(emitted=total))
        self.saved, rows = save(self.saved, header, self.parts)
        return sent(rows)


def truth(handled: int) -> dict[str, bytes]:
    parts: dict[str, bytes] = {}
    for number in range(1, handled + 1):
        parts |= content(number)
    return parts


async def test_the_state_that_was_saved_is_the_state_that_is_read(tmp_path: Path) -> None:
    owner = Owner()
    rows = [row for events in (3, 1, 7, 2) for row in owner.cut(events)]
    states = await filled(tmp_path, rows)
    read = load(await states.load("route", SPACE))
    assert (read.header.counts.total, read.parts) == (13, truth(13))
    assert (await states.version("route", SPACE), states.disturbed(), states.spaces()) == (13, [], 1)


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 9)), min_size=1, max_size=14), st.data())
async def test_of_two_owners_the_one_that_came_furthest_stands(
    cuts: list[tuple[bool, int]], data: st.DataObject
) -> None:
    """A worker woken from a freeze goes on beside the new owner; their rows reach the topic in any order."""
    begun = Owner()
    rows = begun.cut(data.draw(st.integers(1, 6)))
    owners = (Owner(begun.saved), Owner(begun.saved))
    written: tuple[list[list[Sent]], list[list[Sent]]] = ([], [])
    for which, events in cuts:
        written[which].append(owners[which].cut(events))
    while written[0] or written[1]:  # each owner's cuts stay in their order
        some = [queue for queue in written if queue]
        rows += data.draw(st.sampled_from(some)).pop(0)
    with quick_folder() as folder:
        states = await filled(folder, rows)
        furthest = max(owner.handled for owner in owners)
        disturbed = states.disturbed()
        read = load(await states.load("route", SPACE))
        assert (read.header.counts.total, read.parts) == (furthest, truth(furthest))
        again = await filled(folder, [*rows, *(row for space, parts in disturbed for row in sent(parts, space))])
        last = {row.key: row for row in [*rows, *(row for space, parts in disturbed for row in sent(parts, space))]}
        assert again.spaces() == 1
        again.close()
        compacted = await filled(folder, list(last.values()))
        read = load(await compacted.load("route", SPACE))
        assert (read.header.counts.total, read.parts) == (furthest, truth(furthest)), "compaction took what was needed"


async def test_a_save_that_broke_off_leaves_the_state_before_it(tmp_path: Path) -> None:
    owner = Owner()
    rows = owner.cut(4)
    torn = owner.cut(3)[:-1]
    states = await filled(tmp_path, [*rows, *torn])
    read = load(await states.load("route", SPACE))
    assert (read.header.counts.total, read.parts) == (4, truth(4))


async def test_the_greatest_partition_row_counts_and_other_rows_are_no_states(tmp_path: Path) -> None:
    rows = [
        next_row(7, TOPIC, 0),
        next_row(12, TOPIC, 0),
        next_row(9, TOPIC, 0),
        Sent(TOPIC, 0, b"quarantine 31", b"{}"),
    ]
    states = await filled(tmp_path, rows)
    assert (states.next, states.quarantined, states.spaces(), states.rows) == (12, {31}, 0, 4)


async def test_what_is_put_replaces_older_rows_of_its_keys(tmp_path: Path) -> None:
    states = await filled(tmp_path, [])
    owner = Owner()
    for _ in range(20):
        before = owner.saved
        owner.cut(1)
        states.put(SPACE, save(before, owner.saved.header, owner.parts)[1])
    rows = await states.load("route", SPACE)
    assert load(rows).parts == truth(20)
    assert len(rows) <= 1 + 2 * len(truth(20))


async def test_the_file_is_gone_when_the_partition_is(tmp_path: Path) -> None:
    states = await filled(tmp_path, Owner().cut(1))
    states.close()
    assert not states.path.exists()


async def test_a_state_of_which_a_part_is_missing_says_the_way_out(tmp_path: Path) -> None:
    owner = Owner()
    rows = [row for row in [*owner.cut(4), *owner.cut(1)] if b"last" not in row.key]
    old = [row for row in Owner().cut(2) if b"last" not in row.key]
    states = await filled(tmp_path, [*rows, *old])
    with pytest.raises(ValueError, match="replay the space"):
        states.disturbed()
