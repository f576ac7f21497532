from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from schemas.memory import RecordKind
from stages.ports import Match
from stages.recall.pool import Hits, pooled

TURN, WINDOW, FACT = RecordKind.TURN, RecordKind.WINDOW, RecordKind.FACT


def match(
    turn: int, score: int, kind: RecordKind = TURN, *, number: int = 0, session: str = "s", parent: str | None = None
) -> Match:
    since = turn + (kind is WINDOW)
    return Match(f"{kind}-{turn}-{number}", kind, f"t{turn}", since, score, "mia", 0, parent, session)


def hits(name: str, *matches: Match) -> Hits:
    return Hits(name, sorted(matches, key=lambda one: (-one.score, one.record_id)))


def order(*found: Hits) -> list[str]:
    return [one.turn_id for one in pooled(found).best(100)]


def apart(*scores: int) -> list[Match]:
    """Matches of turns that are nobody's neighbours."""
    return [match(10 * n, score) for n, score in enumerate(scores)]


def test_retrievers_are_summed_on_one_scale() -> None:
    dense = hits("dense", *apart(100, 90, 0))
    words = hits("bm25", *apart(2000, 9000, 0))
    assert order(dense, words) == ["t10", "t0", "t20"]


def test_what_one_retriever_missed_gets_its_floor() -> None:
    both = hits("dense", match(0, 50), match(10, 60), match(20, 10)), hits("bm25", match(0, 500), match(20, 100))
    found = {one.turn_id: one for one in pooled(both).best(9)}
    assert found["t0"].score > found["t10"].score
    assert found["t10"].why.keys() == {"dense_turn"}


def test_the_best_projection_counts_once() -> None:
    alone = pooled([hits("dense", *apart(50, 40, 10))]).best(9)
    echoed = pooled([hits("dense", *apart(50, 40, 10), *(match(10, 39, FACT, number=n) for n in range(5)))]).best(9)
    assert [(one.turn_id, one.score) for one in alone] == [(one.turn_id, one.score) for one in echoed]


@given(st.lists(st.integers(0, 500), min_size=2, max_size=8, unique=True), st.data())
def test_weaker_records_of_a_turn_change_no_score(scores: list[int], data: st.DataObject) -> None:
    plain = apart(*scores)
    weaker = [match(10 * n, data.draw(st.integers(-9, score)), FACT) for n, score in enumerate(scores)]
    before = {one.turn_id: one.score for one in pooled([hits("dense", *plain)]).best(9)}
    after = {one.turn_id: one.score for one in pooled([hits("dense", *plain, *weaker)]).best(9)}
    assert before == after


@given(st.permutations(range(6)))
def test_ties_go_by_turn_id_however_they_come(numbers: Sequence[int]) -> None:
    found = [Hits("dense", [match(10 * n, 7) for n in numbers])]
    assert [one.turn_id for one in pooled(found).best(3)] == ["t0", "t10", "t20"]


def shown(*found: Hits) -> str:
    return next(one.shown for one in pooled(found).best(9) if one.turn_id == "t0")


def test_the_turn_itself_is_shown_unless_an_item_is_better() -> None:
    others = apart(0, 20, 10)[1:]
    assert shown(hits("dense", match(0, 50), match(0, 40, FACT), *others)) == "turn-0-0"
    assert shown(hits("dense", match(0, 50), match(0, 60, FACT), *others)) == "fact-0-0"
    assert shown(hits("dense", match(0, 40, FACT), *others), hits("dense", match(0, 90, WINDOW))) == "fact-0-0"
    assert shown(hits("dense", *others), hits("dense", match(0, 90, WINDOW))) == "window-0-0"


def test_a_window_is_evidence_of_its_anchor_only() -> None:
    (one,) = pooled([hits("dense", match(3, 90, WINDOW))]).best(9)
    assert (one.turn_id, one.anchored) == ("t3", True)


def test_neighbours_lend_in_the_session_and_along_the_branch() -> None:
    far = [match(n, 0) for n in (30, 40, 50, 60)]
    beside = hits("dense", match(1, 100), match(2, 10), match(20, 10), *far)
    assert order(beside)[:2] == ["t1", "t2"]
    other_session = hits("dense", match(1, 100), match(2, 10, session="r"), match(20, 10), *far)
    assert not any("neighbour" in one.why for one in pooled([other_session]).best(9))
    child = hits("dense", match(1, 100), match(8, 10, parent="t1"), match(20, 10), *far)
    assert order(child)[:2] == ["t1", "t8"]
    parent = hits("dense", match(1, 10), match(8, 10), match(20, 100, parent="t8"), *far)
    assert order(parent)[:2] == ["t20", "t8"]


def test_own_records_stand_in_where_there_is_no_window_yet() -> None:
    own = hits("dense", *apart(20, 10, 22))
    windows = Hits("dense", [match(0, 300, WINDOW), match(10, 200, WINDOW)], instead=0)
    assert pooled([own, windows]).best(9)[0].turn_id == "t0"
    assert pooled([own, windows], lambda position: position == 20).best(9)[0].turn_id == "t20"


def test_a_turn_known_by_its_window_has_its_neighbours_too() -> None:
    far = [match(n, 0) for n in (30, 40, 50)]
    found = pooled([hits("dense", match(1, 100), *far), hits("bm25", match(2, 5, WINDOW), match(30, 6, WINDOW))]).best(
        9
    )
    assert next(one for one in found if one.turn_id == "t2").why.get("neighbour", 0) > 0
