"""The client against the real gateway over a real memory: what the fake one of these tests does, this one does too."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch_client import Client, Invalid, NotAuthorized, NotFound
from tests.fakes.gateway import keyed, running, settings_of
from tests.unit.infra.client.said import said

SPACE = "acme/mia"


def test_both_agree_on_every_method_and_every_refusal(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    key = keyed(settings)["Authorization"].removeprefix("Bearer ")
    with running(settings) as it, Client(it.url, key) as client:
        accepted = client.publish_many(SPACE, [said("c1:1", "I live in Oslo."), said("c1:2", "I work as a nurse.")])
        assert (accepted.turn_ids, accepted.after) == (("c1:1", "c1:2"), "c1:2")
        found = client.recall(SPACE, "Where does Mia live?", asker="u-42", k=1)
        assert (found.hits[0].turn_ids, found.stale, found.behind) == (("c1:1",), False, 0)
        assert "Oslo" in found.hits[0].text
        assert any("c1:2" in line.turn_ids for line in client.context(SPACE, "What do I work?", budget=200).lines)
        answer = client.answer(SPACE, "Where does Mia live?", asker="u-42", trace=True)
        assert (answer.answer, answer.reason, answer.stale) == (None, "no_model", False)
        assert any("Oslo" in hit.text for hit in answer.evidence)
        assert answer.trace[0].step == "search"
        assert client.turn(SPACE, "c1:1").state == "committed"
        with pytest.raises(NotFound):
            client.turn(SPACE, "never")
        with pytest.raises(NotFound):
            client.publish("other/mia", said("x"))
        with pytest.raises(Invalid, match="blank"):
            client.publish_many(SPACE, [said("fine"), said("blank", " ")])
        with Client(it.url, "ab_wrong") as stranger, pytest.raises(NotAuthorized):
            stranger.turn(SPACE, "c1:1")
        with client.batching(linger_ms=1) as batching:
            sent = [batching.send(f"acme/{number % 3}", said(f"t{number}")) for number in range(30)]
        assert [one.result().turn_ids[0] for one in sent] == [f"t{number}" for number in range(30)]
