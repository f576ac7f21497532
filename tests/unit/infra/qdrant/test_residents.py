"""What is held in memory of a space: read once, grown by writes, let go where it is too much, never another answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.qdrant import columns
from infra.qdrant import residents as module
from infra.qdrant.columns import Column, Stored
from infra.qdrant.resident import Resident
from infra.qdrant.residents import Residents
from schemas.memory import OPEN, RecordKind
from schemas.space import Space
from stages.contract import Unavailable
from stages.ports import Filter

A, B, C = Space("acme/a"), Space("acme/b"), Space("acme/c")
SIZE = 2
KINDS = frozenset({RecordKind.TURN, RecordKind.WINDOW})


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WORTH", 0)


def stored(number: int, since: int, x: int = 1, kind: RecordKind = RecordKind.TURN) -> Stored:
    brief = f'["{kind}","t{number}",{since},null,null,null,null,null,[]]'
    return Stored(f"id-{number:03d}", kind, since, OPEN, [f"turn t{number}"], {7: 64, number: 3}, brief, bytes([x, 0]))


@dataclass
class Shelf:
    """Stands for the index: gives what it holds, and counts how often it was asked."""

    held: dict[Space, list[Stored]] = field(default_factory=dict)
    read: Counter[str] = field(default_factory=Counter)

    def load(self, space: Space) -> list[Stored]:
        self.read[space] += 1
        return [one._replace(vector=None) for one in self.held.get(space, [])]

    def vectors(self, space: Space) -> dict[str, bytes]:
        self.read[f"vectors of {space}"] += 1
        return {one.id: one.vector for one in self.held.get(space, []) if one.vector is not None}

    def residents(self) -> Residents:
        return Residents(self.load, self.vectors, SIZE)

    def write(self, residents: Residents, space: Space, *records: Stored) -> None:
        self.held.setdefault(space, []).extend(records)
        residents.add(space, records, {})


def where(space: Space, as_of: int = 99, *, closed_too: bool = False) -> Filter:
    return Filter(space, as_of, KINDS, closed_too=closed_too)


def near(residents: Residents, asked: Filter, limit: int = 9) -> list[str]:
    resident = residents.with_vectors(asked.space)
    assert resident is not None, "the vectors are not in memory"
    ranked, again, opposite = resident.nearest(asked, [bytes([1, 0]), bytes([1, 0]), bytes([255, 0])], limit)
    assert (again, len(opposite)) == (ranked, len(ranked))
    return [record_id for record_id, _ in ranked]


def numbered(numbers: Iterable[int]) -> list[str]:
    return [f"id-{number:03d}" for number in numbers]


def test_a_space_is_read_once_and_grows_with_what_is_written() -> None:
    shelf = Shelf({A: [stored(2, 5, 9), stored(1, 3, 4)]})  # the index gives them in any order
    residents = shelf.residents()
    assert near(residents, where(A)) == numbered([2, 1])
    shelf.write(residents, A, stored(4, 7, 8), stored(3, 6, 7, RecordKind.WINDOW))
    assert near(residents, where(A)) == numbered([2, 4, 3, 1])
    assert near(residents, where(A, as_of=6)) == numbered([2, 3, 1])
    assert shelf.read == {A: 1, f"vectors of {A}": 1}


def test_a_space_that_could_not_be_read_is_read_again() -> None:
    shelf = Shelf({A: [stored(1, 1)]})
    failing = Shelf()

    def away(_space: Space) -> list[Stored]:
        msg = "the index does not answer"
        raise Unavailable(msg)

    residents = Residents(away, failing.vectors, SIZE)
    with pytest.raises(Unavailable):
        residents.of(A)
    residents.load, residents.load_vectors = shelf.load, shelf.vectors
    assert near(residents, where(A)) == numbered([1])


def test_another_spaces_record_is_refused() -> None:
    resident = Shelf({A: [stored(1, 1)]}).residents().of(A)
    resident.must_hold(A, [[("id-001", 5)]])
    with pytest.raises(Unavailable, match="acme/a: the index answers with record id-002"):
        resident.must_hold(A, [[("id-001", 5), ("id-002", 4)]])


def test_vectors_are_read_when_asked_for_often_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WORTH", 2)
    residents = Shelf({A: [stored(1, 1)]}).residents()
    assert [residents.with_vectors(A) is None for _ in range(4)] == [True, True, False, False]


def test_many_rows_keep_their_vectors() -> None:
    shelf = Shelf({A: []})
    residents = shelf.residents()
    assert near(residents, where(A)) == []
    shelf.write(residents, A, *(stored(n, n, 100 - n) for n in range(90)))
    assert near(residents, where(A), 90) == numbered(range(90))


def test_ties_are_cut_by_id() -> None:
    residents = Shelf({A: [stored(n, n, 2 if n % 2 else 1) for n in range(40)]}).residents()
    assert near(residents, where(A), 23) == numbered([*range(1, 40, 2), 0, 2, 4])


def test_a_closed_record_is_found_as_of_before() -> None:
    residents = Shelf({A: [stored(1, 1), stored(2, 2, kind=RecordKind.WINDOW)]}).residents()
    residents.of(A)
    residents.add(A, [], {"id-002": 5})
    assert near(residents, where(A, as_of=4)) == numbered([1, 2])
    assert near(residents, where(A, as_of=5)) == numbered([1])
    assert near(residents, where(A, as_of=5, closed_too=True)) == numbered([1, 2])
    assert residents.of(A).worded(where(A, as_of=5), {7: 64}, 9) == [("id-001", 1000)]
    assert residents.of(A).newest(where(A, as_of=5), 9) == [("id-001", 0)]


def test_a_record_without_a_vector_is_found_by_words_only() -> None:
    residents = Shelf({A: [stored(1, 1)._replace(vector=None), stored(2, 2)]}).residents()
    assert near(residents, where(A)) == numbered([2])
    words = residents.of(A).worded(where(A), {7: 64}, 9)
    assert words == [("id-001", 1000), ("id-002", 1000)]


def test_a_record_out_of_order_lets_the_space_be_read_again() -> None:
    shelf = Shelf({A: [stored(1, 8)]})
    residents = shelf.residents()
    assert near(residents, where(A)) == numbered([1])
    shelf.write(residents, A, stored(2, 3))
    assert near(residents, where(A)) == numbered([1, 2])
    assert shelf.read[A] == 2


def test_the_space_longest_unused_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "POSTINGS", 24)  # a space counts eight, a record three
    shelf = Shelf({space: [stored(1, 1)] for space in (A, B, C)})
    residents = shelf.residents()
    for space in (A, B, A, C, A, B):
        assert near(residents, where(space)) == numbered([1])
    assert [shelf.read[space] for space in (A, B, C)] == [1, 2, 1]


def test_too_many_vectors_are_let_go_and_the_words_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf({space: [stored(1, 1)] for space in (A, B)})
    one = Resident()
    one.add(stored(1, 1))
    one.take({}, SIZE)
    monkeypatch.setattr(module, "VECTORS", one.vectors * 3 // 2)
    residents = shelf.residents()
    for space in (A, B, A):
        assert near(residents, where(space)) == numbered([1])
    assert shelf.read == {A: 1, B: 1, f"vectors of {A}": 2, f"vectors of {B}": 1}
    shelf.write(residents, A, *(stored(n, n) for n in range(2, 60)))
    residents.with_vectors(B)
    assert residents.with_vectors(A) is None, "a space above the limit stays with the engine"


def test_a_large_space_leaves_room_for_small_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "POSTINGS", 60)
    shelf = Shelf({A: [stored(n, n) for n in range(90)], B: [stored(1, 1)], C: [stored(1, 1)]})
    residents = shelf.residents()
    for space in (A, B, C) * 5:
        residents.of(space)
    assert shelf.read == {A: 1, B: 1, C: 1}


def test_what_is_held_is_counted_exactly() -> None:
    shelf = Shelf({space: [stored(1, 1)] for space in (A, B)})
    residents = shelf.residents()
    for space in (A, B):
        near(residents, where(space))
    shelf.write(residents, A, *(stored(n, n) for n in range(2, 60)))
    residents.forget(A)
    assert residents.shelf._vectors == residents.of(B).vectors
    residents.forget(B)
    assert (residents.shelf._vectors, residents.shelf._postings) == (0, 0)


def test_few_rows_are_searched_as_all_are() -> None:
    residents = Shelf({A: [stored(n, n, 40 - n) for n in range(40)]}).residents()
    few = replace(where(A), turn_ids=frozenset({"t7", "t3", "t50"}))
    assert near(residents, few) == numbered([3, 7])
    assert near(residents, replace(few, as_of=6)) == numbered([3])
    assert [one for one, _ in residents.of(A).newest(few, 9)] == numbered([7, 3])
    assert [one for one, _ in residents.of(A).worded(few, {7: 64}, 9)] == numbered([3, 7])


def test_common_words_add_up_as_their_postings_do(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = Random(5)
    texts = [{word: chance.randint(1, 122) for word in range(12) if chance.random() < 0.08 * word} for _ in range(120)]
    records = [stored(n, n)._replace(weights=weights) for n, weights in enumerate(texts)]
    asked = {word: chance.randint(1, 500) for word in range(12)}
    answers: list[list[object]] = []
    for common in (0, 1000):
        monkeypatch.setattr(columns, "COMMON", common)
        shelf = Shelf({A: records[:40]})
        residents = shelf.residents()
        answers.append([])
        for known in range(40, 121, 20):
            answers[-1].append([residents.of(A).worded(where(A, as_of), asked, 30) for as_of in (known // 2, known)])
            shelf.write(residents, A, *records[known : known + 20])
    assert answers[0] == answers[1]


def test_the_newest_of_one_position_come_by_id() -> None:
    residents = Shelf({A: [stored(n, n // 4) for n in (3, 2, 1, 0, 7, 6, 5, 4)]}).residents()
    assert [one for one, _ in residents.of(A).newest(where(A), 6)] == numbered([4, 5, 6, 7, 0, 1])


def test_an_empty_space_answers_nothing() -> None:
    resident = Shelf().residents().of(A)
    assert resident.worded(where(A), {7: 64}, 9) == resident.newest(where(A), 9) == []
    column = Column()
    assert column.near(bytes(SIZE), column.selected(9, [], closed_too=False), 9, 9) == []


TAGS = st.sampled_from(["owner a", "owner b", "turn t1", "turn t2", "attribute diet"])


@given(
    bearing=st.lists(st.lists(TAGS, max_size=4), max_size=12),
    narrowed=st.lists(st.lists(TAGS, max_size=3), max_size=3),
    as_of=st.integers(-1, 12),
)
def test_a_record_is_selected_once_and_only_if_it_bears_a_tag_of_each_field(
    bearing: list[list[str]], narrowed: list[list[str]], as_of: int
) -> None:
    column = Column()
    for number, tags in enumerate(bearing):
        column.add(stored(number, number)._replace(tags=tags))
    wanted = [n for n, tags in enumerate(bearing) if n <= as_of and all({*tags} & {*one} for one in narrowed)]
    assert column.selected(as_of, narrowed, closed_too=False).tolist() == wanted
