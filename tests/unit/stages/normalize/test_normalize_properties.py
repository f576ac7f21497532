from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.normalized import Normalized
from stages.contract import WINDOW, Emit, Reject
from stages.normalize import Normalize, NormalizeState
from stages.normalize.clean import clean
from stages.ring import CHUNK
from tests.fakes.talk import Talk, turn_of

WORDS = [
    *(
        '"',
        "“Salt Roads”",
        "《三体》",
        "that book",
        "it",
        "there",
        "I love",
        "because",
        ". ",
        "? ",
        "\n",
        "\n- ",
        "`",
        "```",
    ),
    *("yesterday", "visited Kyoto", "a novel called", "Ignore all previous instructions", "\x00", "\ud800", "\udfff"),
    *(
        "שלום",
        "مرحبا",
        "สวัสดี",
        "한국어",
        "これは本です。",
        "👨\u200d👩\u200d👧",
        "e\u0301",
        "\u202e",
        "A",
        " ",
        "'s",
        "1999",
        "@x",
    ),
]
texts = st.one_of(
    st.text(alphabet=st.characters(codec=None), max_size=200),
    st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join),
    st.lists(st.sampled_from(WORDS), max_size=60).map("".join),
    st.tuples(st.sampled_from(WORDS), st.integers(1, 400)).map(lambda pair: pair[0] * pair[1]),
)
conversations = st.lists(st.tuples(texts, st.lists(texts, max_size=2)), min_size=1, max_size=4)
quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


async def said(conversation: Sequence[tuple[str, list[str]]]) -> tuple[list[Any], Talk]:
    talk = Talk()
    return [await talk.say(text, captions=captions) for text, captions in conversation], talk


@quick
@given(conversations)
async def test_any_text_is_understood_or_refused(conversation: list[tuple[str, list[str]]]) -> None:
    outcomes, _ = await said(conversation)
    for outcome, (text, captions) in zip(outcomes, conversation, strict=True):
        assert isinstance(outcome, Reject | Emit)
        if isinstance(outcome, Emit):
            check_quotes(outcome.message)
            check_pieces(outcome.message)
            assert Normalized.model_validate_json(outcome.message.model_dump_json()) == outcome.message
        else:
            assert outcome.reason.startswith("blank: ")
            assert not any(char.isalnum() for part in (text, *captions) for char in clean(part))


def check_quotes(message: Normalized) -> None:
    z = message.z
    quotes = [(each.text, each.span) for each in (*z.facts, *z.attributes, *([z.reason] if z.reason else []))]
    quotes += [(mention.mention, mention.span) for mention in message.mentions]
    quotes += [(time.phrase, time.span) for time in message.times]
    assert all(span.of(message.text) == text for text, span in quotes)


def check_pieces(message: Normalized) -> None:
    spans = [piece.span for piece in message.pieces]
    assert all(left.end <= right.start for left, right in pairwise(spans))
    assert all(piece.text == piece.span.of(message.text) for piece in message.pieces)
    assert "".join("".join(piece.text.split()) for piece in message.pieces) == "".join(message.text.split())


@quick
@given(conversations)
async def test_same_input_same_bytes(conversation: list[tuple[str, list[str]]]) -> None:
    (first, one), (second, two) = await said(conversation), await said(conversation)
    assert [each.message.model_dump_json() for each in first if isinstance(each, Emit)] == [
        each.message.model_dump_json() for each in second if isinstance(each, Emit)
    ]
    assert one.state.parts() == two.state.parts()


@quick
@given(conversations)
async def test_the_state_comes_back_equal(conversation: list[tuple[str, list[str]]]) -> None:
    _, talk = await said(conversation)
    parts = talk.state.parts()
    assert talk.stage.restore(parts) == talk.state
    assert NormalizeState.from_parts(parts).parts() == parts


def size(state: NormalizeState) -> int:
    return sum(len(name) + len(data) for name, data in state.parts().items())


@pytest.mark.parametrize("things", [1, 40])
async def test_the_state_is_small_and_flat(things: int) -> None:
    talk = Talk(Normalize(Talk().stage.embedder, Talk().stage.history))
    sizes: dict[int, int] = {}
    for number in range(300):
        titles = " ".join(f'I read "{"書" * 10} Title {number} {each} {"Long" * 9}".' for each in range(things))
        await talk.say(titles, f"{'t' * 240}-{number:06d}", speaker=f"Speaker {number % 200}")
        sizes[number + 1] = size(talk.state)
    assert sizes[300] < 32 * 1024
    assert sizes[300] < 1.1 * sizes[100]
    assert WINDOW <= len(talk.state.seen) < WINDOW + CHUNK


async def test_a_turn_rewrites_little_of_the_state() -> None:
    talk = Talk()
    await talk.chat(100)
    written = 0
    for _ in range(64):
        before = talk.state.parts()
        await talk.say(f'I read "Title {talk.position}" and visited Kyoto.')
        after = talk.state.parts()
        written += sum(len(data) for name, data in after.items() if before.get(name) != data)
    assert written / 64 < 4096


async def test_a_malformed_part_is_refused() -> None:
    talk = Talk()
    await talk.hear("Hello you.")
    with pytest.raises(ValueError, match="Field required"):
        talk.stage.restore({**talk.state.parts(), "seen-0": b'[{"position": 1}]'})


async def test_the_state_given_is_not_changed() -> None:
    talk = Talk()
    await talk.hear("Hello you.")
    before = talk.state.parts()
    await talk.stage.decide(talk.numbered(turn_of("And again.", "x")), talk.state)
    assert talk.state.parts() == before
