"""Branches as candidates: what reads found joins the recently active ones; old records tell their own place."""

from __future__ import annotations

from schemas.localized import Placement, Rule
from schemas.memory import RecordRow
from stages.localize_state.anchors import PATH_BYTES, node_of, path_of, told
from stages.localize_state.nodes import Tip, person_key
from stages.localize_state.reads import Hit
from stages.localize_state.threads import joined
from tests.fakes.forest import Grove, normalized, record


async def said(position: int, text: str, branch: int, path: str = "") -> RecordRow:
    """Return the record of Mia's turn at ``position`` in a branch."""
    grove = Grove(position=position)
    message = await normalized(grove.turn("mia", text, {"session": "s1"}), position)
    parent = None if position == branch else f"t{branch}"
    rule = Rule.NEW_ROOT if parent is None else Rule.RANKED
    place = Placement(parent_turn_id=parent, rule=rule, branch=branch, interaction=branch, path_summary=path)
    return record(message, place)


def tip(branch: int, position: int) -> Tip:
    return Tip(
        position=position, turn_id=f"t{position}", person=1, at=0, branch=branch, interaction=branch, opener=1,
        tokens=("cake",),
    )  # fmt: skip


async def test_a_branch_that_only_records_know_goes_on_at_the_newest_found() -> None:
    old, new = await said(3, "A lemon cake?", 3), await said(5, "With almond flour.", 3, path="mia: A lemon cake?")
    (thread,) = joined([], [Hit(old, cosine=700), Hit(new, cosine=300)], [])
    assert (thread.target.position, thread.age, thread.cosine) == (5, 0, 700)
    assert thread.path == "mia: A lemon cake? \u203a mia: With almond flour."
    assert {"lemon", "almond"} <= thread.tokens
    assert thread.session != 0
    (same,) = joined([], [Hit(new, cosine=300), Hit(old, cosine=700)], [])
    assert (same.target, same.path) == (thread.target, thread.path)


async def test_a_branch_whose_tip_is_known_goes_on_at_its_tip() -> None:
    hit = Hit(await said(3, "A lemon cake?", 3), cosine=500)
    (thread,) = joined([], [hit], [tip(branch=3, position=40), tip(branch=9, position=50)])
    assert (thread.target.position, thread.path, thread.cosine) == (40, "", 500)
    assert {"cake", "lemon"} <= thread.tokens


async def test_found_branches_stand_behind_the_recent_ones() -> None:
    recent = joined([], [Hit(await said(3, "A lemon cake?", 3))], [tip(branch=3, position=40)])
    threads = joined(recent, [Hit(await said(3, "A lemon cake?", 3), cosine=200), Hit(await said(1, "Boots?", 1))], [])
    assert [(thread.target.branch, thread.age) for thread in threads] == [(3, 0), (1, 1)]
    assert threads[0].cosine == 200


async def test_a_record_that_is_only_a_piece_has_no_place() -> None:
    row = await said(3, "A lemon cake?", 3)
    node = node_of(row)
    assert node is not None
    assert (node.position, node.opener, node.person) == (3, person_key("mia"), person_key("mia"))
    piece = row.model_copy(update={"turn": None, "piece": 1})
    assert (node_of(piece), path_of(piece)) == (None, "")


def test_a_path_keeps_its_root_and_its_newest_steps() -> None:
    steps = [f"{n}{'x' * 119}" for n in range(8)]
    path = told("root", steps)
    assert len(path.encode()) <= PATH_BYTES
    assert path.split(" \u203a ") == ["root", *steps[-3:]]
