"""Whatever is published has an outcome: no bytes stop a space, and none are lost without a word."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from schemas.space import Space
from tests.fakes.effort import effort
from tests.fakes.folders import quick_folder
from tests.fakes.rigs import real_rig

SPACE = Space("acme/u-1")
_words = st.one_of(st.sampled_from(["a", "b", "mia", "I live in Oslo."]), st.text(max_size=12))
_json: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), _words, st.just(10**4000), st.just("\ud83d\x00")),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_words, inner, max_size=3)),
    max_leaves=4,
)
_speakers = st.fixed_dictionaries({"id": _words}, optional={"name": _words, "role": st.sampled_from(["user", "agent"])})
_fields: dict[str, st.SearchStrategy[Any]] = {
    "space": st.just(str(SPACE)),
    "turn_id": _words,
    "speaker": _speakers,
    "text": _words,
    "at": st.datetimes().map(lambda at: at.isoformat() + "Z"),
    "reply_to": _words,
    "session": _words,
    "attachments": st.lists(st.fixed_dictionaries({"caption": _words}), max_size=2),
    "revision": st.integers(-1, 3),
    "kind": st.sampled_from(["turn", "control"]),
    "event_id": _words,
    "schema_version": st.sampled_from([1, 2]),
}
_MUST = ("space", "turn_id", "speaker", "text", "at")


@st.composite
def events(draw: st.DrawFn) -> bytes:
    """Return a turn, in which fields may be missing, odd or unknown, as JSON that may be cut short; or any bytes."""
    names = draw(st.lists(st.sampled_from(list(_fields)), max_size=3))
    turn = {name: draw(_fields[name]) for name in dict.fromkeys([*_MUST, *names])}
    for name in draw(st.lists(st.sampled_from([*_fields, "colour"]), max_size=2)):
        turn[name] = draw(_json)
    body = json.dumps(turn, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass")
    return body[: draw(st.sampled_from([len(body), len(body), len(body), len(body) // 2]))]


@effort(40)
@given(st.lists(st.one_of(events(), events(), events(), st.binary(max_size=20)), min_size=1, max_size=10))
async def test_every_event_ends_committed_lettered_or_as_a_duplicate(log: list[bytes]) -> None:
    with quick_folder() as folder:
        rig = real_rig(folder)
        with rig.journal() as journal:
            journal.append(SPACE, log)
        await rig.finish()
        sums = rig.fortune(SPACE).sums
        assert (sums.published, sums.pending) == (len(log), 0)
        assert sums.committed + sums.lettered + sums.duplicates == len(log)
        with rig.journal() as journal:
            letters = list(journal.letters(SPACE))
            assert len(letters) == sums.lettered
            assert all(letter.original == log[letter.offset - 1] for letter in letters if letter.topic == "turns")
            assert not [letter.reason for letter in letters if "crashed" in letter.reason]
