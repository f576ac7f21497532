"""The engine does what a few plain lists do, however it is fed, killed and started again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from infra.memory_api import Sums
from streams.journal import Journal
from tests.fakes.disturbed import CALM, Way
from tests.fakes.effort import effort
from tests.fakes.folders import quick_folder
from tests.fakes.logs import deadly, sent_to, ways
from tests.fakes.plain_engine import STAGES, PlainEngine, Told
from tests.fakes.rigs import odd_rig
from tests.fakes.sent import Kind, Sent

SPACES = ("acme/u-1", "acme/u-2", "bell/u-1")
TOPICS = ("turns.normalized", "turns.localized", "turns.extracted", "turns.routed")
W = 64


def rows_told(rows: Iterable[str]) -> list[Told]:
    """Return memory rows as the plain engine tells them."""
    return [told for told in map(_told, map(json.loads, rows)) if told]


def _told(row: dict[str, Any]) -> Told:
    if row["row"] == "outcome":
        return ("outcome", str(row["position"]), row["event_id"], row["state"], row["stage"] or "")
    return (row["kind"], str(row["since"]), row["text"], *row["provenance"])


def reasons_told(rows: Iterable[str]) -> dict[int, str | None]:
    """Return the reason of each outcome by position."""
    return {row["position"]: row["reason"] for row in map(json.loads, rows) if row["row"] == "outcome"}


def emitted(journal: Journal, topic: str, space: str) -> list[tuple[int, str, str]]:
    """Return what lies in a topic: position, id, and the text or the stage that refused."""
    out = []
    for record in journal.read_records(topic, space, 0, 10**6):
        body = json.loads(record.body)
        text = f"({body['stage']})" if record.marker else _text(body)
        assert record.header is not None
        assert body["header"] == json.loads(record.header.model_dump_json())
        out.append((record.header.position, record.header.event_id, text))
    return out


def _text(body: dict[str, Any]) -> str:
    """Return the text of the turn that an edge nests ("" for a control event)."""
    inner = body.get("source") or body
    inner = inner.get("localized") or inner
    return str((inner.get("normalized") or inner).get("text", ""))


class EngineMachine(RuleBasedStateMachine):
    """Publishes, runs, kills, delivers again; the plain engines take each event as it is published."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = quick_folder()
        self.rig = odd_rig(self.folder.__enter__())
        self.plain = {space: PlainEngine() for space in SPACES}
        self.sent: list[Sent] = []

    def _publish(self, log: Sequence[Sent]) -> None:
        self.rig.publish(log)
        self.sent += log
        for sent in log:
            self.plain[sent.space].take(sent)

    @rule(log=st.lists(st.one_of(*map(sent_to, SPACES)), min_size=1, max_size=12))
    def publish(self, log: list[Sent]) -> None:
        self._publish(log)

    @rule(space=st.sampled_from(SPACES), count=st.integers(20, W + 6))
    def publish_many(self, space: str, count: int) -> None:
        start = len(self.sent)
        self._publish([Sent(space, Kind.TURN, f"n{start + n}", f"number {n}") for n in range(count)])

    @rule(picks=st.lists(st.integers(0, 10**6), min_size=1, max_size=6))
    def publish_again(self, picks: list[int]) -> None:
        if self.sent:
            self._publish([self.sent[pick % len(self.sent)] for pick in picks])

    @rule(way=st.one_of(ways, deadly(), deadly()))
    def run(self, way: Way) -> None:
        asyncio.run(self.rig.run(way))
        self._so_far()

    @rule(way=ways)
    def finish(self, way: Way) -> None:
        asyncio.run(self.rig.finish(way))
        self._at_rest()

    def _so_far(self) -> None:
        """In the middle of it: nothing is there that should not be, and no position below the watermark is missing."""
        with self.rig.journal() as journal:
            for space, plain in self.plain.items():
                fortune = self.rig.fortune(space)
                rows, sums = rows_told(fortune.memory), fortune.sums
                assert set(rows) <= set(plain.memory)
                reached = journal.position("commit", space)
                done = {int(row[1]) for row in rows if row[0] == "outcome"}
                assert set(range(reached + 1)) <= done
                assert reached <= journal.header("normalize", space).position <= plain.position
                assert 0 <= sums.pending <= plain.events
                assert sums.committed <= plain.committed
                assert len({row[:3] for row in rows}) == len(rows)

    def _at_rest(self) -> None:
        for space, plain in self.plain.items():
            fortune = self.rig.fortune(space)
            assert sorted(rows_told(fortune.memory)) == sorted(plain.memory)
            assert sorted(fortune.index.values()) == sorted(fortune.memory)
            lettered = len(plain.letters)
            assert fortune.sums == Sums(plain.events, plain.committed, lettered, plain.duplicates, 0, 0)
            assert plain.events == plain.committed + lettered + plain.duplicates
            assert set(fortune.positions) == {plain.position}
            self._letters_are_told(space, plain, reasons_told(fortune.memory))
            self._topics_hold(space, plain)

    def _letters_are_told(self, space: str, plain: PlainEngine, reasons: dict[int, str | None]) -> None:
        with self.rig.journal() as journal:
            letters = sorted(journal.letters(space), key=lambda letter: (letter.position is None, letter.position or 0))
        told = sorted(plain.letters, key=lambda letter: (letter[0] is None, letter[0] or 0))
        assert [(each.position, each.turn_id, each.stage) for each in letters] == [each[:3] for each in told]
        for letter, (position, _id, _stage, why) in zip(letters, told, strict=True):
            assert why in letter.reason
            assert position is None or reasons[position] == letter.reason.partition("\n")[0]

    def _topics_hold(self, space: str, plain: PlainEngine) -> None:
        """What all stages have finished may be removed; of the last W positions everything is there."""
        with self.rig.journal() as journal:
            for topic, stage in zip(TOPICS, STAGES, strict=False):
                found = emitted(journal, topic, space)
                kept = len(found)
                assert kept >= min(W, plain.position + 1)
                assert found == plain.topics[stage][len(plain.topics[stage]) - kept :]

    def teardown(self) -> None:
        asyncio.run(self.rig.finish(CALM))
        self._at_rest()
        self.folder.__exit__(None, None, None)


TestEngine = EngineMachine.TestCase
TestEngine.settings = effort(12, steps=8)
