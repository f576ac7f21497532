"""What a turn is before it is sent, held against the schema of the log."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from anabranch_client import Attachment, Role, Speaker, Turn, WrongUse
from anabranch_client.turns import check_space, encode
from schemas.turn import Turn as TurnOfTheLog
from streams.codec import decode_event
from tests.unit.infra.client.said import AT, MIA, said

AGENT: Role = "agent"
FULL = Turn(
    Speaker("bot", "Otto", AGENT),
    "größer 🦔 \ud800 \x00",
    datetime(2026, 3, 1, 18, 22, 5, 123, tzinfo=timezone(timedelta(hours=5, minutes=45))),
    turn_id="c1:17",
    reply_to="c1:16",
    session="c1",
    attachments=(Attachment("a beam", "https://example.org/1"), Attachment(url="x")),
    revision=3,
)


@pytest.mark.parametrize("turn", [FULL, said("t1")])
def test_the_log_reads_what_the_client_writes(turn: Turn) -> None:
    read = decode_event(encode("acme/mia", turn))
    assert isinstance(read, TurnOfTheLog)
    assert (read.space, read.turn_id, read.revision) == ("acme/mia", turn.turn_id, turn.revision)
    assert (read.reply_to, read.session) == (turn.reply_to, turn.session)
    assert read.speaker.model_dump(mode="json") == asdict(turn.speaker)
    assert [one.model_dump() for one in read.attachments] == [asdict(one) for one in turn.attachments]
    assert (read.at, read.at.utcoffset()) == (turn.at, turn.at.utcoffset())
    assert read.text == turn.text.replace("\ud800", "")


@pytest.mark.parametrize("turn", [FULL, said("t1"), said("t2", '"\\ \n\t\x08\x7f\u2028 / é')])
def test_the_bytes_are_those_that_the_schema_writes(turn: Turn) -> None:
    """As a gateway writes what it read: fields in their order, without those that the sender left out."""
    payload = encode("acme/mia", turn)
    assert TurnOfTheLog.model_validate_json(payload).model_dump_json(exclude_unset=True).encode() == payload


def test_a_turn_makes_its_id_once() -> None:
    turns = [Turn(MIA, "a", AT) for _ in range(3)]
    assert len({turn.turn_id for turn in turns}) == 3
    assert all(encode("a/b", turn) == encode("a/b", turn) for turn in turns)


def test_a_local_mean_time_travels_as_the_moment_it_is() -> None:
    amsterdam = datetime(1900, 1, 1, tzinfo=timezone(timedelta(minutes=19, seconds=32)))
    read = decode_event(encode("a/b", Turn(MIA, "a", amsterdam)))
    assert isinstance(read, TurnOfTheLog)
    assert read.at == amsterdam


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"at": datetime(2026, 3, 1)}, "`at` of turn t1 needs an offset from UTC"),  # noqa: DTZ001 - what is refused
        ({"turn_id": ""}, "turn_id is 1 to 256 characters"),
        ({"turn_id": "x" * 257}, "turn_id is 1 to 256"),
        ({"turn_id": "a\nb"}, "none of them a control character"),
        ({"turn_id": "a\ud800"}, "none of them a control character or half of a pair"),
        ({"reply_to": ""}, "reply_to is 1 to 256"),
        ({"revision": -1}, "the revision of turn t1 is 0 to"),
        ({"revision": 2**31}, "the revision of turn t1 is 0 to"),
    ],
)
def test_what_can_be_no_turn_is_refused_where_it_is_made(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(WrongUse, match=told):
        replace(said("t1"), **wrong)


def test_a_speaker_without_an_id_is_none() -> None:
    with pytest.raises(ValueError, match="a speaker's id is 1 to 256"):
        Speaker("")


@pytest.mark.parametrize(
    "space", ["acme", "acme/", "/mia", "acme/mia/1", "acme/-x", "a/" + "x" * 201, "a b/c", "a/b\n"]
)
def test_a_space_has_two_parts(space: str) -> None:
    with pytest.raises(WrongUse, match="a space is written tenant/space"):
        check_space(space)
