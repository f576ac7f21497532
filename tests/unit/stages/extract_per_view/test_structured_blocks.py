"""What agents list, read from the text alone: forms, members in order, numbers, headings, bounds."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.structured import Form
from schemas.turn import Role, Speaker
from stages.extract_per_view.structured import MEMBERS, RECORDS, TEXT_BYTES, Listing, listings, name, topic
from stages.normalize.clean import clean
from tests.fakes.talk import turn_of

LIST, TABLE, STEPS, CODE, PAIRS = Form.LIST, Form.TABLE, Form.STEPS, Form.CODE, Form.PAIRS
AGENT = Speaker(id="bot", name="Rook", role=Role.AGENT)


def listed(text: str) -> tuple[Listing, ...]:
    return listings(turn_of(clean(text) or "-").model_copy(update={"speaker": AGENT})).found


READ: dict[str, tuple[str, Form, str, list[str], tuple[int, ...]]] = {
    "bullets": (
        "Cafés by the canal:\n- Fig Tree\n- Noodle Hut",
        LIST,
        "Cafés by the canal",
        ["Fig Tree", "Noodle Hut"],
        (),
    ),
    "bullets of other kinds": ("Birds:\n• heron\n•wren", LIST, "Birds", ["heron", "wren"], ()),
    "boxes": ("To pack:\n- [x] tent\n- [ ] stove", LIST, "To pack", ["tent", "stove"], ()),
    "a list without heading": ("1. heron\n2) wren", LIST, "", ["heron", "wren"], ()),
    "numbers with a gap": (
        "Left over:\n1. oats\n2. rice\n4. beans",
        LIST,
        "Left over",
        ["oats", "rice", "beans"],
        (1, 2, 4),
    ),
    "numbers that go on": ("More of them:\n6. oats\n7. rice", LIST, "More of them", ["oats", "rice"], (6, 7)),
    "Markdown counts itself": ("Birds:\n1. heron\n1. wren\n1. crane", LIST, "Birds", ["heron", "wren", "crane"], ()),
    "bold numbers": (
        "**Trips**\n**1. Oslo**: by train\n**2. Bergen**: by boat",
        LIST,
        "Trips",
        ["Oslo: by train", "Bergen: by boat"],
        (),
    ),
    "letters": ("Choose one:\na) tea\nb) milk", LIST, "Choose one", ["tea", "milk"], ()),
    "a nested list is its parent's": (
        "Menu:\n- soup\n  - leek\n  - pea\n- pie",
        LIST,
        "Menu",
        ["soup - leek - pea", "pie"],
        (),
    ),
    "bullets below numbers": (
        "Plan:\n1. Dig\n- by hand\n- slowly\n\n2. Sow",
        LIST,
        "Plan",
        ["Dig - by hand - slowly", "Sow"],
        (),
    ),
    "numbers below bullets": (
        "Days:\n- One\n  1. walk\n  2. rest\n- Two",
        LIST,
        "Days",
        ["One 1. walk 2. rest", "Two"],
        (),
    ),
    "prose between numbers": ("Do:\n1. Dig.\n\nIt takes an hour.\n\n2. Sow.", LIST, "Do", ["Dig.", "Sow."], ()),
    "a wrapped member": (
        "Do:\n- Carry all of the flat stones from the old wall down to the\nriver bank\n- Rest\nTell me how it went.",
        LIST,
        "Do",
        ["Carry all of the flat stones from the old wall down to the river bank", "Rest"],
        (),
    ),
    "steps by their word": ("Step 1: Boil water.\nStep 2: Add tea.", STEPS, "", ["Boil water.", "Add tea."], ()),
    "steps by their heading": (
        "Follow these steps:\n1. Boil water\n2. Add tea",
        STEPS,
        "Follow these steps",
        ["Boil water", "Add tea"],
        (),
    ),
    "steps as headings": ("### 1. Dig\nBy hand.\n### 2. Sow\nIn rows.", LIST, "", ["Dig", "Sow"], ()),
    "Chinese numerals": (
        "推荐的咖啡馆\uff1a\n一、无花果树\n二、面条屋\n三、橄榄",
        LIST,
        "推荐的咖啡馆",
        ["无花果树", "面条屋", "橄榄"],
        (),
    ),
    "nth in Chinese": ("第一步\uff1a烧水\n第二步\uff1a泡茶", LIST, "", ["烧水", "泡茶"], ()),
    "circled": ("① 桜\n② 梅", LIST, "", ["桜", "梅"], ()),
    "Arabic digits": ("الطيور:\n\u0661. بلشون\n\u0662. صعو", LIST, "الطيور", ["بلشون", "صعو"], ()),
    "Japanese dots": ("鳥:\n・鷺\n・雀", LIST, "鳥", ["鷺", "雀"], ()),
    "a table": (
        "Prices in euros:\n\n| Café | Tea |\n|:-----|----:|\n| Fig Tree | 3 |\n| Noodle Hut | 2 |",
        TABLE,
        "Prices in euros",
        ["Fig Tree | 3", "Noodle Hut | 2"],
        (),
    ),
    "a table without edges": ("Café | Tea\n--- | ---\nFig Tree | 3", TABLE, "Café | Tea", ["Fig Tree | 3"], ()),
    "code": (
        "This adds two numbers:\n```python\ndef add(a, b):\n\n    return a + b\n```",
        CODE,
        "This adds two numbers",
        ["def add(a, b):", "    return a + b"],
        (),
    ),
    "code that is never closed": ("~~~\nls\npwd", CODE, "", ["ls", "pwd"], ()),
    "key and value": (
        "Your booking:\n**Name:** Mia\nDate: 3 May\nTable: 4",
        PAIRS,
        "Your booking",
        ["Name: Mia", "Date: 3 May", "Table: 4"],
        (),
    ),
    "keys in Chinese": (
        "预订\uff1a\n姓名\uff1a米娅\n日期\uff1a五月三日",
        PAIRS,
        "预订",
        ["姓名\uff1a米娅", "日期\uff1a五月三日"],
        (),
    ),
    "a heading above a line that says nothing": (
        "## Boats to hire\nHere are some options:\n- punt\n- canoe",
        LIST,
        "Boats to hire",
        ["punt", "canoe"],
        (),
    ),
    "the last sentence above": (
        "I looked around. These cafés are open.\n\n- Fig Tree\n- Noodle Hut",
        LIST,
        "These cafés are open.",
        ["Fig Tree", "Noodle Hut"],
        (),
    ),
}

NOTHING = {
    "one bullet": "- only this",
    "prose": "I went there in 2024. It was 3.5 miles.\nThen at 10:30 we left.",
    "a rule": "---\n***\n---",
    "initials": "J. Smith wrote it.\nK. Jones read it.",
    "bars without an alignment row": "a | b\nc | d",
    "one pair": "Note: it rains.",
    "a talk": "- only one\nand prose",
    "two lists of one": "1. one\n\n## Then\n\n2. two",
}


@pytest.mark.parametrize("case", READ)
def test_a_block_becomes_a_record(case: str) -> None:
    text, form, heading, members, numbers = READ[case]
    (found,) = listed(text)
    assert (found.form, found.heading, list(found.members), found.numbers) == (form, heading, members, numbers)


@pytest.mark.parametrize("case", NOTHING)
def test_what_is_no_list(case: str) -> None:
    assert listed(NOTHING[case]) == ()


def test_only_agents_list() -> None:
    assert listings(turn_of("Birds:\n- heron\n- wren")).found == ()


def test_several_blocks_come_in_their_order_and_code_in_a_step_is_code() -> None:
    text = "Steps to follow:\n1. Install\n```\npip\n```\n2. Run\n\nBirds:\n- heron\n- wren\n\nName: a\nAge: b"
    assert [(one.form, list(one.members)) for one in listed(text)] == [
        (STEPS, ["Install", "Run"]),
        (CODE, ["pip"]),
        (LIST, ["heron", "wren"]),
        (PAIRS, ["Name: a", "Age: b"]),
    ]


def test_what_is_beyond_the_bounds_is_counted() -> None:
    (many,) = listed("\n".join(f"- bird {n}" for n in range(MEMBERS + 9)))
    assert (len(many.members), many.more) == (MEMBERS, 9)
    assert many.text.endswith("… 9 more")
    lists = listings(
        turn_of("\n\n".join(["a:\n- b\n- c", "end."] * (RECORDS + 2))).model_copy(update={"speaker": AGENT})
    )
    assert (len(lists.found), lists.more) == (RECORDS, 2)


def test_long_members_leave_room_for_all() -> None:
    (found,) = listed("Birds:\n- heron\n- " + "wren " * 999 + "\n- crane")
    assert found.members[0] == "heron"
    assert found.members[1].endswith("…")
    assert found.text.splitlines()[-1] == "3. crane"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Cafés to try in Lund", "cafés to try in Lund", True),
        ("Here are some ideas", "Here are some ideas", False),
        ("Updated list of cafés in Lund", "Cafés in Lund", True),
        ("Cafés in Lund", "Bars in Lund", False),
    ],
)
def test_headings_say_what_a_list_is_of(one: str, other: str, *, same: bool) -> None:
    assert (bool(topic(one)) and topic(one) == topic(other)) is same


def test_a_member_has_the_same_name_however_it_is_explained() -> None:
    assert {name("Fig Tree (closed on Mondays)"), name("Fig Tree: cheap"), name("fig tree \u2013 by the canal")} == {
        "fig tree"
    }
    assert name("(none)")


LINES = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "",
                "- a",
                "  - b",
                "1. c",
                "2) d",
                "   3. e",
                "```",
                "~~~",
                "|a|b|",
                "|-|-|",
                "k: v",
                "# h",
                "text.",
                "十、x",
                "Step 4: y",
            ]
        ),
        st.text(max_size=12),
    ),
    max_size=24,
)


@given(LINES)
@settings(deadline=None, max_examples=150)
def test_members_stand_in_the_text_in_order_and_are_bounded(rows: list[str]) -> None:
    text = "\n".join(rows).encode("utf-8", "ignore").decode()
    flat = "".join(clean(text).replace("**", "").split())
    for one in listed(text):
        at = 0
        for member in one.members:
            at = flat.index("".join(member.replace("**", "").split()), at)
        assert one.span is not None
        assert 1 <= len(one.members) <= MEMBERS
        assert len(one.text.encode()) <= TEXT_BYTES + 64 * (12 + 8) + 200
        assert sum(len(member.encode()) for member in one.members) <= 4_000


def lines_run(text: str) -> int:
    """Return how many lines of code the parser runs: unlike time, that is the same each time."""
    count = 0

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace if "structured" in frame.f_code.co_filename else None

    others = sys.gettrace()  # coverage's: without it the rest of the run would not be measured
    sys.settrace(trace)
    try:
        listed(text)
    finally:
        sys.settrace(others)
    return count


@pytest.mark.parametrize(
    "row", ["- a\n", "1. a\n", "|a|b|\n", "```\na\n", "k: v\n", "\n- a\n\n", "  - a\n- b\n", "- a\n# h\n"]
)
def test_work_grows_with_the_text_and_no_faster(row: str) -> None:
    assert lines_run(row * 400) < 3 * lines_run(row * 200) + 1000
