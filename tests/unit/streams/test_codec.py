"""Bytes to events: what is forgiven, what is refused and in which words, and what can be read of a refused one."""

from __future__ import annotations

import json
import re

import pytest

from schemas.turn import Turn
from streams.codec import Malformed, Peek, canonical, decode_event, peek, revision, spelled
from tests.fakes.runtime import event

SPACE = "acme/u-1"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"\xff{}", "not UTF-8 at byte 0"),
        (b"{", "not JSON: Expecting property name"),
        (b"[1, 2]", "an event is a JSON object, not list"),
        (b'"turn"', "an event is a JSON object, not str"),
        (b"null", "an event is a JSON object, not NoneType"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"revision": ' + b"9" * 5000 + b"}", "a number in it has thousands of digits"),
        (event(SPACE, "a", at="noon"), "at: "),
    ],
)
def test_what_is_no_event_is_refused_with_what_is_wrong(data: bytes, told: str) -> None:
    with pytest.raises(Malformed, match=re.escape(told)):
        decode_event(data)


def test_many_faults_are_named_and_counted() -> None:
    with pytest.raises(Malformed, match=r"; and \d+ more"):
        decode_event(json.dumps({f"field{n}": n for n in range(40)}).encode())


@pytest.mark.parametrize("data", [b"\xff{}", b"[1]", b"7", b"[" * 200_000, b""])
def test_of_what_is_no_object_nothing_can_be_read(data: bytes) -> None:
    assert peek(data) == Peek(None, None, is_control=False)
    assert revision(data) == 0


@pytest.mark.parametrize(
    ("fields", "seen"),
    [
        ({"space": SPACE, "turn_id": "a"}, Peek(SPACE, "a", is_control=False)),
        ({"space": SPACE, "event_id": "n", "kind": "control"}, Peek(SPACE, "n", is_control=True)),
        ({"space": 7, "turn_id": ["a"]}, Peek(None, None, is_control=False)),
        ({"space": "", "turn_id": ""}, Peek(None, None, is_control=False)),
        ({"space": SPACE, "turn_id": "x" * 257}, Peek(SPACE, None, is_control=False)),
    ],
)
def test_of_an_object_only_what_has_the_right_shape_is_believed(fields: dict[str, object], seen: Peek) -> None:
    assert peek(json.dumps(fields).encode()) == seen


@pytest.mark.parametrize(("value", "number"), [(3, 3), ("3", 0), (None, 0), (2.5, 0)])
def test_the_revision_of_an_event_is_a_whole_number(value: object, number: int) -> None:
    assert revision(json.dumps({"revision": value}).encode()) == number


def test_surrogates_are_joined_or_dropped_wherever_they_stand() -> None:
    lone, pair = "\ud800", "\ud83d\ude00"
    shown = [{"caption": f"a {lone}boat {pair}"}]
    found = decode_event(event(SPACE, "a", f"{lone}hello", attachments=shown))
    assert isinstance(found, Turn)
    assert (found.text, found.attachments[0].caption) == ("hello", "a boat \U0001f600")


@pytest.mark.parametrize("text", ["caf\u00e9", 'say "no"', "back\\slash", "\U0001f600", "\ud800"])
def test_a_text_is_spelled_as_it_stands_in_an_event(text: str) -> None:
    body = json.dumps({"text": f"before {text} behind"}, ensure_ascii=False).encode("utf-8", "surrogatepass")
    assert spelled(text)[1:-1] in body


def test_canonical_json_has_one_spelling() -> None:
    turn = decode_event(event(SPACE, "a", "caf\u00e9"))
    text = canonical(turn)
    assert "caf\u00e9" in text
    assert json.dumps(json.loads(text), sort_keys=True, ensure_ascii=False, separators=(",", ":")) == text
