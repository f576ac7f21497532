"""What both clients ask and read, over real sockets."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from anabranch_client import (
    Accepted,
    Answer,
    Bundle,
    Citation,
    Hit,
    Invalid,
    Latest,
    Line,
    NotAuthorized,
    NotFound,
    Placement,
    Problem,
    Recalled,
    Retries,
    RunnerUp,
    Step,
    TimedOut,
    Timeouts,
    TooMuch,
    TurnState,
    Unexpected,
    Unreachable,
    WrongUse,
)
from tests.fakes.gateway_answers import ANSWER, RECALLED
from tests.fakes.gateway_answers import AT as WRITTEN
from tests.fakes.gateway_server import Fault, GatewayServer, Reply, answer, problem
from tests.unit.infra.client.conftest import Call
from tests.unit.infra.client.said import AT, said

Connect = Callable[..., Call]
SPACE = "acme/u+42@home~1"


@pytest.fixture
def call(connect: Connect, gateway: GatewayServer) -> Call:
    return connect(gateway.url)


def test_a_turn_is_published(call: Call, gateway: GatewayServer) -> None:
    assert call("publish", SPACE, said("t1")) == Accepted(("t1",), "t1")
    (asked,) = gateway.asked
    assert (asked.method, asked.path) == ("POST", "/v1/spaces/acme/u+42@home~1/turns")
    assert asked.body == {
        "space": SPACE,
        "turn_id": "t1",
        "speaker": {"id": "u-42", "name": "Mia", "role": "user"},
        "text": "the floor gave way",
        "at": "2026-03-01T18:22:05Z",
    }
    assert asked.headers["Content-Type"] == "application/json"
    assert asked.headers["User-Agent"].startswith("anabranch-client/")
    assert len(asked.headers["X-Request-Id"]) == 32


def test_many_turns_go_in_few_requests_and_in_order(call: Call, gateway: GatewayServer) -> None:
    ids = [f"t{number}" for number in range(250)]
    assert call("publish_many", SPACE, (said(one) for one in ids)) == Accepted(tuple(ids), "t249")
    assert [len(asked.body["turns"]) for asked in gateway.asked] == [100, 100, 50]
    assert gateway.log[SPACE] == ids


def test_large_turns_go_in_requests_of_their_own(call: Call, gateway: GatewayServer) -> None:
    texts = ["x" * 300_000, "y" * 300_000, "z" * 600_000, "a", "b"]
    call("publish_many", SPACE, [said(text[0], text) for text in texts])
    assert [len(asked.body.get("turns", "1")) for asked in gateway.asked] == [1, 1, 1, 2]
    assert gateway.log[SPACE] == ["x", "y", "z", "a", "b"]


def test_a_gateway_that_takes_less_at_once_gets_less(call: Call, gateway: GatewayServer) -> None:
    gateway.max_turns = 3
    ids = [f"t{number}" for number in range(10)]
    assert call("publish_many", SPACE, [said(one) for one in ids]) == Accepted(tuple(ids), "t9")
    assert gateway.log[SPACE] == ids
    gateway.max_turns = 0
    with pytest.raises(TooMuch, match="413"):
        call("publish_many", SPACE, [said("a"), said("b")])


def test_where_a_part_fails_those_before_it_are_told(call: Call, gateway: GatewayServer) -> None:
    turns = [said(f"t{number}") for number in range(100)]
    with pytest.raises(Invalid) as caught:
        call("publish_many", SPACE, [*turns, said("wrong", " "), said("behind")])
    assert caught.value.accepted == tuple(turn.turn_id for turn in turns)
    assert caught.value.turn_ids == ("wrong", "behind")
    assert gateway.log[SPACE] == list(caught.value.accepted)
    gateway.max_turns = 1
    gateway.log.clear()
    with pytest.raises(Invalid) as halved:
        call("publish_many", SPACE, [said("a"), said("b"), said("wrong", " "), said("behind")])
    assert (halved.value.accepted, gateway.log[SPACE]) == (("a", "b"), ["a", "b"])


def test_an_answer_that_cannot_be_read_tells_what_was_accepted_before(call: Call, gateway: GatewayServer) -> None:
    gateway.faults.extend([Fault.NONE, Reply(202, b"no gzip", {"Content-Encoding": "gzip"})])
    with pytest.raises(Unexpected) as caught:
        call("publish_many", SPACE, [said(f"t{number}") for number in range(101)])
    assert len(caught.value.accepted) == 100
    assert caught.value.turn_ids == ("t100",)


def test_no_turns_are_wrong_use(call: Call, gateway: GatewayServer) -> None:
    with pytest.raises(WrongUse, match=f"no turns to publish to {SPACE.replace('+', '.')}"):
        call("publish_many", SPACE, [])
    with pytest.raises(WrongUse, match="tenant/space"):
        call("publish", "acme", said("t1"))
    assert gateway.asked == []


@pytest.mark.parametrize("fault", [fault for fault in Fault if fault is not Fault.NONE])
def test_a_turn_keeps_its_id_over_all_tries(
    connect: Connect, gateway: GatewayServer, fault: Fault, caplog: pytest.LogCaptureFixture
) -> None:
    call = connect(gateway.url, timeouts=Timeouts(5.0, 0.3 if "STALL" in fault.name else 5.0))
    gateway.faults.extend([fault, fault])
    call("publish", SPACE, said("t1"))
    assert len(gateway.asked) == 3
    assert len({asked.body["turn_id"] for asked in gateway.asked}) == 1
    assert len({asked.headers["X-Request-Id"] for asked in gateway.asked}) == 1
    assert gateway.distinct(SPACE) == ["t1"]
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_a_question_is_asked_with_all_its_parameters(call: Call, gateway: GatewayServer) -> None:
    hit = Hit("r1", "turn", ("t1",), "Mia", AT.fromisoformat(WRITTEN), "the floor", 0.5, {"dense": 0.5})
    how = {"k": 3, "asker": "u-42", "asked_at": AT, "for_turn": "t9", "after": "t8@1", "as_of": "position:7"}
    assert call("recall", SPACE, "what gave way?", **how) == Recalled((hit,), stale=False, behind=0, took_ms=1.5)
    (asked,) = gateway.asked
    assert asked.path == "/v1/spaces/acme/u+42@home~1/recall"
    assert asked.body == {"question": "what gave way?", **how, "asked_at": "2026-03-01T18:22:05Z"}


def test_an_answer_is_asked_for_with_all_its_parameters(call: Call, gateway: GatewayServer) -> None:
    at = AT.fromisoformat(WRITTEN)
    how = {"asker": "u-42", "asked_at": AT, "for_turn": "t9", "after": "t8@1", "as_of": "position:7"}
    cost = {"budget": 500, "requests": 2, "seconds": 4.5, "trace": True}
    said_so = call("answer", SPACE, "what gave way?", **how, **cost)
    assert said_so == Answer(
        answer="the floor",
        reason=None,
        confidence="high",
        inferred=False,
        citations=(Citation(("t1",), "r1", "turn", "Mia", at, "the floor"),),
        evidence=(Hit("r1", "turn", ("t1",), "Mia", at, "the floor", 0.5, {"dense": 0.5}),),
        research="enough",
        stale=True,
        behind=2,
        took_ms=900.5,
        used={"searches": 2, "requests": 3},
        trace=(Step("search", "1 found", None, ("q",), ("t1",), ""),),
    )
    (asked,) = gateway.asked
    assert asked.path == "/v1/spaces/acme/u+42@home~1/answer"
    assert asked.body == {"question": "what gave way?", **how, **cost, "asked_at": "2026-03-01T18:22:05Z"}


def test_an_answer_sees_the_clients_own_last_write(call: Call, gateway: GatewayServer) -> None:
    call("publish", SPACE, said("t1"))
    call("answer", SPACE, "q")
    call("answer", SPACE, "q", after=None)
    assert [asked.body for asked in gateway.asked[1:]] == [{"question": "q", "after": "t1"}, {"question": "q"}]


@pytest.mark.parametrize("wrong", [{"citations": [{}]}, {"used": 1}, {"evidence": None}])
def test_an_answer_that_cannot_be_read_is_told(call: Call, gateway: GatewayServer, wrong: dict[str, Any]) -> None:
    gateway.faults.append(answer({**ANSWER, **wrong}))
    with pytest.raises(Unexpected, match=r"answer from acme/mia: .*check the address"):
        call("answer", "acme/mia", "q")


def test_a_recall_waits_for_what_it_is_told(call: Call, gateway: GatewayServer) -> None:
    """By itself for the client's own last write to that space, and to no other."""
    call("recall", SPACE, "q")
    first = call("publish", SPACE, said("t1"))
    call("publish", SPACE, said("t2"))
    call("publish", "acme/other", said("o1"))
    for how in ({}, {"after": Latest.WRITE}, {"after": first}, {"after": "t0"}, {"after": None}):
        call("recall", SPACE, "q", **how)
    told = [asked.body.get("after") for asked in gateway.asked if asked.path.endswith("recall")]
    assert told == [None, "t2", "t2", "t1", "t0", None]


def test_a_bundle_is_asked_for(call: Call, gateway: GatewayServer) -> None:
    place = Placement("t1", ("t0",), "ranked", 7, (RunnerUp("t2", 3),))
    line = Line("local", ("t1",), AT.fromisoformat(WRITTEN), "the floor", 2)
    bundle = call("context", SPACE, "and the floor?", speaker="u-42", at=AT, budget=99)
    assert bundle == Bundle(place, (line,), 2)
    body = {"text": "and the floor?", "speaker": "u-42", "at": "2026-03-01T18:22:05Z", "budget": 99}
    assert gateway.asked[0].body == body


@pytest.mark.parametrize("turn_id", ["t1", "c1:17", "a/b", "../../x", "..", ".", "a b?c#d%2F", "größer"])
def test_a_turn_of_any_id_is_looked_up(call: Call, turn_id: str) -> None:
    call("publish", SPACE, said(turn_id))
    assert call("turn", SPACE, turn_id) == TurnState(turn_id, None, "pending", None)


def test_refusals_are_told_apart(connect: Connect, gateway: GatewayServer) -> None:
    call = connect(gateway.url)
    with pytest.raises(NotFound, match=r"look up in acme/mia .turns t1.: refused with 404, no such turn"):
        call("turn", "acme/mia", "t1")
    with pytest.raises(NotFound, match="the key's tenant"):
        call("publish", "other/mia", said("t1"))
    for key in (None, "another"):
        with pytest.raises(NotAuthorized, match="anabranch keys create"):
            connect(gateway.url, key)("publish", "acme/mia", said("t1"))
    with pytest.raises(Invalid) as caught:
        call("publish", "acme/mia", said("t1", " "))
    assert isinstance(caught.value.problem, Problem)
    assert caught.value.problem.fields["turn_id"] == "t1"
    assert len(gateway.asked) == 5  # each once


def test_a_gateway_that_is_away_or_slow_is_told(connect: Connect, gateway: GatewayServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(Unreachable) as away:
        connect(f"http://127.0.0.1:{port}", retries=Retries(0.001, 0.01, 0.1))("publish", "acme/mia", said("t1"))
    assert not away.value.is_maybe_taken
    gateway.faults.extend([Fault.STALL_AFTER] * 9)
    with pytest.raises(TimedOut, match="it may have been taken: publish again with the same turn ids"):
        connect(gateway.url, retries=Retries(0.001, 0.01, 0.2))("publish", "acme/mia", said("t1"))


@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, b"<html>hello"),
        answer([]),
        answer({"hits": 1}),
        answer({**RECALLED, "hits": [{}]}),
        Reply(302, headers={"Location": "/login"}),
        Reply(200, b"no gzip", {"Content-Encoding": "gzip"}),
    ],
)
def test_an_answer_of_another_program_is_told(call: Call, gateway: GatewayServer, reply: Reply) -> None:
    gateway.faults.append(reply)
    with pytest.raises(Unexpected, match=r"recall from acme/mia: .*check the address"):
        call("recall", "acme/mia", "q")
    assert len(gateway.asked) == 1


def test_a_problem_without_a_detail_and_one_that_is_no_object_are_read(call: Call, gateway: GatewayServer) -> None:
    gateway.faults.extend([problem(404, "no such space"), Reply(404, b"[]")])
    with pytest.raises(NotFound, match="404, no such space; check"):
        call("recall", "acme/mia", "q")
    with pytest.raises(NotFound, match="404, status 404; check"):
        call("recall", "acme/mia", "q")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["ftp://host"], "https://HOST"),
        (["host:80"], "https://HOST"),
        (["https://"], "https://HOST"),
        (["http://host", "two words"], "an API key is printable ASCII"),
        (["http://host", "schlüssel"], "an API key is printable ASCII"),
        (["http://host", "a\nb"], "an API key is printable ASCII"),
    ],
)
def test_an_address_or_key_that_can_be_none_is_refused(connect: Connect, given: Sequence[Any], told: str) -> None:
    with pytest.raises(WrongUse, match=told):
        connect(*given)


def test_a_gateway_may_lie_below_a_path(connect: Connect, gateway: GatewayServer) -> None:
    with pytest.raises(NotFound):  # the server here knows no such path; what was asked for is what is tested
        connect(f"{gateway.url}/memory/")("publish", "acme/mia", said("t1"))
    assert gateway.asked[0].path == "/memory/v1/spaces/acme/mia/turns"
