"""Reading: one behaviour for every index, seen through the ports of stages and recall."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from schemas.memory import ITEM_KINDS, OPEN, EdgeRow, EdgeType, RecordKind, RecordRow
from stages.ports import Match
from stages.text.tokens import tokens
from stages.woven import NONE
from tests.fakes.index_rows import changed, closed, event, key, left, record
from tests.fakes.index_suite import (
    EVERY,
    SIZE,
    TURN,
    A,
    B,
    Index,
    ids,
    scores,
    vector,
    where,
    write,
)


async def test_dense_scores_are_the_integer_dot_products(index: Index) -> None:
    rng = np.random.default_rng(7)
    drawn = rng.integers(-127, 128, (40, SIZE), dtype=np.int8)
    rows = [record(A, 0, ordinal=n) for n in range(40)]
    await write(index, *rows, vectors=[v.tobytes() for v in drawn])
    asked = rng.integers(-127, 128, SIZE, dtype=np.int8)
    dots = drawn.astype(int) @ asked.astype(int)
    expected = sorted(zip((-dots).tolist(), (row.id for row in rows), strict=True))[:10]
    [hits] = await index.nearest(where(), [asked.tobytes()], 10)
    assert [(-hit.score, hit.record.id) for hit in hits] == expected
    matches = await index.dense(where(), asked.tobytes(), 10)
    assert [(-hit.score, hit.record_id) for hit in matches] == expected


async def test_ties_are_cut_by_id_after_fetching_past_them(index: Index) -> None:
    rows = [record(A, 0, "rust apple", ordinal=n) for n in range(60)]
    others = [record(A, 1, "other", ordinal=n) for n in range(9)]  # so that the words tell records apart
    await write(index, *rows, vectors=[vector(3)] * 60)
    await write(index, *others, at=1)
    first = sorted(row.id for row in rows)[:5]
    [near] = await index.nearest(where(), [vector(2)], 5)
    [words] = await index.lexical(where(), [["rust"]], 5)
    newest = await index.matching(where(as_of=0), 5)
    assert ids(near) == ids(words) == ids(newest) == first
    assert scores(near) == [6] * 5


async def test_several_vectors_and_queries_are_answered_in_order(index: Index) -> None:
    rows = [record(A, 0, "red"), record(A, 1, "blue")]
    await write(index, *rows, vectors=[vector(9), vector(0, 9)])
    near = await index.nearest(where(), [vector(0, 1), vector(1)], 1)
    words = await index.lexical(where(), [["blue"], ["unseen"], ["red"], []], 2)
    assert [ids(hits) for hits in near] == [[rows[1].id], [rows[0].id]]
    assert [ids(hits) for hits in words] == [[rows[1].id], [], [rows[0].id], []]


async def test_bm25_of_a_word_is_its_idf_times_its_weight(index: Index) -> None:
    texts = ["river river stone", "river", "stone", "cloud"]
    await write(index, *(record(A, 0, text, ordinal=n) for n, text in enumerate(texts)))
    idf = round(64 * math.log(1 + (4 - 2 + 0.5) / (2 + 0.5)))

    def weight(count: int, length: int) -> int:
        return round(64 * count * 1.9 / (count + 0.9 * (0.6 + 0.4 * length / 50)))

    [hits] = await index.lexical(where(), [tokens("river")], 9)
    assert scores(hits) == [round(1000 * idf * weight(*tf) / 4096) for tf in ((2, 3), (1, 1))]
    [twice] = await index.lexical(where(), [["river", "river"]], 9)
    assert scores(twice) == [round(1000 * 2 * idf * weight(*tf) / 4096) for tf in ((2, 3), (1, 1))]


async def test_bm25_is_not_moved_by_other_tenants_later_writes_or_closings(index: Index) -> None:
    rows = [record(A, 0, "blue whale", ordinal=n) for n in range(3)] + [record(A, 1, "red fox")]
    await write(index, *rows, at=1)
    seen = await index.lexical(where(as_of=1), [["whale"], ["fox", "red"]], 9)
    matched = await index.sparse(where(as_of=1), ["whale"], 9)
    assert all(scores(hits) for hits in seen)
    await write(index, *(record(B, 0, "blue whale fox", ordinal=n) for n in range(30)))
    await write(index, *(record(A, 2, "fox whale", ordinal=n) for n in range(30)), at=2)
    await index.write(A, [event(A, 3, [closed(rows[0], 3)])])
    assert await index.lexical(where(as_of=1), [["whale"], ["fox", "red"]], 9) == seen
    assert await index.sparse(where(as_of=1), ["whale"], 9) == matched


async def test_bm25_is_not_moved_where_a_closed_record_came_again(index: Index) -> None:
    """As an undo brings back what a night had retired."""
    rows = [record(A, 0, "blue whale", ordinal=n) for n in range(3)] + [record(A, 0, "red fox", ordinal=9)]
    await write(index, *rows)
    [whales, foxes] = await index.lexical(where(), [["whale"], ["fox", "red"]], 9)
    again = record(A, 1, "blue whale")
    await index.write(A, [event(A, 1, [again, closed(rows[0], 1, again.id)])])
    now = await index.lexical(where(as_of=1), [["whale"], ["fox", "red"]], 9)
    assert [scores(hits) for hits in now] == [scores(whales), scores(foxes)]
    assert rows[0].id not in ids(now[0])


async def test_bm25_counts_the_kinds_asked_and_is_not_moved_by_narrowing(index: Index) -> None:
    turns = [record(A, 0, "tea", ordinal=n, owner="mia" if n else "bo") for n in range(4)]
    rest = [record(A, 0, "chess", ordinal=9), record(A, 0, "tea", kind=RecordKind.FACT)]
    await write(index, *turns, *rest)
    [all_turns] = await index.lexical(where(), [["tea"]], 9)
    [of_bo] = await index.lexical(where(owners=frozenset({"bo"})), [["tea"]], 9)
    [more_kinds] = await index.lexical(where(kinds=TURN | {RecordKind.FACT}), [["tea"]], 9)
    assert scores(of_bo) == scores(all_turns)[:1]
    assert scores(all_turns)[0] not in scores(more_kinds)


@pytest.mark.parametrize(
    ("text", "query"), [("私は東京に住んでいます", "東京"), ("Ich wohne in Köln", "köln"), ("живу в Москве", "Москве")]
)
async def test_words_of_any_script_are_found(index: Index, text: str, query: str) -> None:
    await write(index, record(A, 0, text), record(A, 0, "something else", ordinal=1))
    [hits] = await index.lexical(where(), [tokens(query)], 5)
    assert [hit.record.text for hit in hits] == [text]


async def test_records_without_words_or_vector_are_found_by_the_rest(index: Index) -> None:
    silent, plain = record(A, 0, "…"), record(A, 1, "word")
    await index.write(A, [event(A, 1, [silent, plain, record(A, 1, "other", ordinal=1)], [(silent, vector(1))])])
    [near] = await index.nearest(where(), [vector(1)], 5)
    [words] = await index.lexical(where(), [["word"]], 5)
    assert (ids(near), ids(words)) == ([silent.id], [plain.id])


ROWS = {
    "turn": record(A, 0, "w x", owner="mia", branch=0, provenance=("t0", "t1")),
    "late": record(A, 7, "w y", owner="mia", branch=7),
    "fact": record(A, 2, "w", kind=RecordKind.FACT, owner="bo", key=key("diet", "Rex"), branch=0, provenance=("t0",)),
    "attr": record(A, 3, "w", kind=RecordKind.ATTRIBUTE, owner="bo ", key=key("diet")),
    "gone": record(A, 4, "w", kind=RecordKind.EVENT),
}
TABLE: list[tuple[dict[str, object], str]] = [
    ({}, "turn late fact attr"),
    ({"closed_too": True}, "turn late fact attr gone"),
    ({"as_of": 8}, "turn late fact attr gone"),
    ({"as_of": 2}, "turn fact"),
    ({"as_of": -1}, ""),
    ({"kinds": frozenset(ITEM_KINDS)}, "fact attr"),
    ({"kinds": frozenset()}, ""),
    ({"owners": frozenset({"mia"})}, "turn late"),
    ({"owners": frozenset({"bo", "mia"})}, "turn late fact"),
    ({"owners": frozenset()}, ""),
    ({"turn_ids": frozenset({"t0"})}, "turn fact"),
    ({"turn_ids": frozenset({"t1"})}, "turn"),
    ({"turn_ids": frozenset({"t9"})}, ""),
    ({"key_attribute": "diet"}, "fact attr"),
    ({"key_subject": "Rex"}, "fact"),
    ({"key_attribute": "diet", "key_subject": "Tom"}, ""),
    ({"branches": frozenset({0})}, "turn fact"),
    ({"branches": frozenset({0, 7}), "owners": frozenset({"mia"})}, "turn late"),
    ({"space": B}, ""),
]


@pytest.mark.parametrize(("narrow", "expected"), TABLE)
async def test_every_read_sees_what_the_filter_says(index: Index, narrow: dict[str, object], expected: str) -> None:
    rows = list(ROWS.values())
    await write(index, *rows, at=8, vectors=[vector(1)] * len(rows))
    await write(index, record(A, 8, "silent", ordinal=1), at=8)
    await index.write(A, [event(A, 9, [closed(ROWS["gone"], 9)])])
    asked = where(**{"kinds": EVERY, **narrow})  # type: ignore[arg-type]  # a table gives the fields by name
    wanted = {ROWS[name].id for name in expected.split()}
    silent = record(A, 8, "silent", ordinal=1).id
    [near], [words] = await index.nearest(asked, [vector(1)], 9), await index.lexical(asked, [["w"]], 9)
    assert set(ids(near)) == set(ids(words)) == wanted
    assert set(ids(await index.dense(asked, vector(1), 9))) == set(ids(await index.sparse(asked, ["w"], 9))) == wanted
    assert set(ids(await index.matching(asked, 9))) - {silent} == wanted


async def test_closings_and_marks_are_there_from_their_position_on(index: Index) -> None:
    row = record(A, 1, kind=RecordKind.FACT)
    await write(index, row, at=1)
    await index.write(A, [event(A, 7, [left(row, 3), changed(row, 5, "s"), closed(row, 7)])])
    told = {}
    for as_of in (0, 2, 3, 5, 7):
        told[as_of] = [
            (hit.left, hit.changed, hit.until, hit.successor) for hit in await index.fetch(A, as_of, [row.id])
        ]
    assert told == {
        0: [],
        2: [(None, None, OPEN, None)],
        3: [(3, None, OPEN, None)],
        5: [(3, (5, "s"), OPEN, None)],
        7: [(3, (5, "s"), 7, "better")],
    }
    assert ids(await index.matching(where(as_of=6, kinds=EVERY), 5)) == [row.id]
    assert await index.matching(where(as_of=7, kinds=EVERY), 5) == []


async def test_a_record_comes_back_whole(index: Index) -> None:
    row = record(A, 2, "naïve 🐋", owner="mia", key=key("pet", "Rex"), session="s1", branch=1, views=("v",))
    await write(index, row, at=2, vectors=[vector(5)])
    assert [hit.record for hit in await index.fetch(A, 2, [row.id])] == [row]
    assert await index.dense(where(), vector(1), 1) == [
        Match(row.id, RecordKind.TURN, "t2", 2, 5, owner="mia", branch=1, parent=None, session="s1")
    ]


async def test_a_match_says_when_it_was_said_and_what_else_it_is_evidence_of(index: Index) -> None:
    turns = ("t2", "t5", "t3")
    merged = record(A, 9, kind=RecordKind.FACT, provenance=turns, said_at=2)
    others = [record(A, 9, kind=kind, provenance=turns) for kind in (RecordKind.WINDOW, RecordKind.STRUCTURED)]
    await write(index, merged, *others, at=9, vectors=[vector(9), vector(8), vector(7)])
    found = await index.dense(where(kinds=EVERY), vector(1), 5)
    assert [(one.turn_id, one.since, one.said_at, one.others) for one in found] == [
        ("t2", 9, 2, ("t5", "t3")),
        ("t2", 9, None, ()),
        ("t2", 9, None, ()),
    ]


def _edge(source: RecordRow, target: RecordRow, since: int, kind: EdgeType = EdgeType.SUPPORTS) -> EdgeRow:
    return EdgeRow(space=A, source=source.id, target=target.id, type=kind, strength=70 + since, since=since)


async def test_edges_are_found_from_either_end_as_of_a_position(index: Index) -> None:
    first, second, third = (record(A, n) for n in range(3))
    fact = record(A, 1, kind=RecordKind.FACT)
    forward = _edge(first, second, 1, EdgeType.NEXT)
    stated, back = _edge(second, fact, 1), _edge(third, first, 2, EdgeType.CONTINUES)
    await index.write(
        A, [event(A, 0, [first]), event(A, 1, [fact, second, stated, forward]), event(A, 2, [third, back])]
    )
    assert _named((await index.edges(A, 2, [first.id], 9)).every) == _named([forward, back])
    assert _named((await index.edges(A, 1, [first.id], 9)).every) == _named([forward])
    assert _named((await index.edges(A, 2, [fact.id], 9)).every) == _named([stated])
    assert _named((await index.edges(A, 2, [third.id, fact.id, record(A, 50).id], 9)).every) == _named([stated, back])
    assert await index.edges(A, 0, [first.id], 9) == await index.edges(A, 2, [], 9) == NONE
    assert await index.edges(B, 2, [first.id], 9) == NONE


def _named(edges: Sequence[EdgeRow]) -> list[tuple[str, str, EdgeType, int, int]]:
    return sorted((edge.source, edge.target, edge.type, edge.strength, edge.since) for edge in edges)


async def test_the_edges_of_the_newest_events_count_whatever_was_closed(index: Index) -> None:
    topic = record(A, 0, kind=RecordKind.TOPIC)
    turns = [record(A, n) for n in range(1, 6)]
    events = [event(A, turn.since, [turn, _edge(turn, topic, turn.since, EdgeType.MENTIONS)]) for turn in turns]
    await index.write(A, [event(A, 0, [topic]), *events])
    await index.write(A, [event(A, 6, [closed(turns[4], 6)])])
    assert {edge.source for edge in (await index.edges(A, 6, [topic.id], 2)).of_turns} == {turns[3].id, turns[4].id}
    assert (await index.edges(A, 6, [topic.id], 0)).every == []


async def test_edges_of_an_event_without_a_turn_are_kept_too(index: Index) -> None:
    old, new = record(A, 0, kind=RecordKind.FACT), record(A, 3, kind=RecordKind.FACT)
    edge = _edge(new, old, 3, EdgeType.SUPERSEDES)
    await index.write(A, [event(A, 0, [old]), event(A, 3, [new, edge])])
    assert _named((await index.edges(A, 3, [old.id], 9)).every) == _named([edge])


async def test_what_an_event_without_a_turn_made_has_edges_until_it_is_closed(index: Index) -> None:
    """A night that is taken back leaves the graph as it was; what a turn said leads on though it was corrected."""
    turn, said = record(A, 0), record(A, 0, kind=RecordKind.FACT)
    stated = _edge(turn, said, 0, EdgeType.SUPPORTS)
    await index.write(A, [event(A, 0, [turn, said, stated])])
    made = [record(A, 1, kind=RecordKind.TOPIC, ordinal=n) for n in range(2)]
    told = [_edge(turn, one, 1, EdgeType.MENTIONS) for one in made]
    after = _edge(made[0], said, 1, EdgeType.SUPERSEDES)
    await index.write(A, [event(A, 1, [*made, *told, after, closed(said, 1)])])
    assert _named((await index.edges(A, 1, [turn.id, said.id], 9)).every) == _named([stated, *told, after])
    await index.write(A, [event(A, 2, [closed(made[0], 2)])])
    assert _named((await index.edges(A, 2, [turn.id, said.id], 9)).every) == _named([stated, told[1]])
    assert _named((await index.edges(A, 1, [turn.id, said.id], 9)).every) == _named([stated, *told, after])


async def test_events_without_a_turn_do_not_crowd_out_those_of_turns(index: Index) -> None:
    turns = [record(A, n) for n in range(3)]
    for one in turns:
        await index.write(A, [event(A, one.since, [one, _edge(turns[0], one, one.since)])])
    nights = [record(A, n, kind=RecordKind.TOPIC) for n in range(3, 6)]
    for one in nights:
        await index.write(A, [event(A, one.since, [one, _edge(turns[0], one, one.since, EdgeType.MENTIONS)])])
    of_turns, of_others = await index.edges(A, 9, [turns[0].id], 2)
    assert {edge.target for edge in of_turns} == {one.id for one in turns[1:]}
    assert {edge.target for edge in of_others} == {one.id for one in nights[1:]}


async def test_fetch_keeps_the_order_asked_and_never_crosses_a_space(index: Index) -> None:
    rows = [record(A, n) for n in range(3)]
    stranger = record(B, 0)
    await write(index, *rows, at=2)
    await write(index, stranger)
    asked = [rows[2].id, "no uuid", stranger.id, rows[0].id, record(A, 50).id, rows[2].id]
    assert ids(await index.fetch(A, 9, asked)) == [rows[2].id, rows[0].id, rows[2].id]


async def test_matching_is_newest_first(index: Index) -> None:
    rows = [record(A, n % 5, ordinal=n) for n in range(20)]
    await write(index, *rows, at=5)
    expected = [row.id for row in sorted(rows, key=lambda row: (-row.since, row.id))]
    assert ids(await index.matching(where(), 7)) == expected[:7]
    assert ids(await index.matching(where(), 99)) == expected
    assert await index.matching(where(), 0) == []
