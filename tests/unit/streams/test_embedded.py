"""The embedded runtime: numbering, letters, markers, duplicates, admission, and death between any two effects."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streams.effects import Cut
from streams.embedded import Embedded, _Ports
from streams.journal import Journal
from tests.fakes.runtime import Died, Home, event

SPACE = "acme/u-1"


def outcomes(home: Home, space: str = SPACE) -> list[tuple[int, str, str]]:
    rows = [json.loads(row) for row in home.memory(space)]
    return [(row["position"], row["event_id"], row["state"]) for row in rows if row["row"] == "outcome"]


CASES: list[tuple[str, list[bytes], list[tuple[int, str, str]], int]] = [
    (
        "turns take positions in order",
        [event(SPACE, "a"), event(SPACE, "b")],
        [(0, "a", "committed"), (1, "b", "committed")],
        0,
    ),
    (
        "a duplicate takes none",
        [event(SPACE, "a"), event(SPACE, "a"), event(SPACE, "b")],
        [(0, "a", "committed"), (1, "b", "committed")],
        0,
    ),
    (
        "a rejected turn keeps its position",
        [event(SPACE, "a", " "), event(SPACE, "b")],
        [(0, "a", "lettered"), (1, "b", "committed")],
        1,
    ),
    (
        "a malformed turn whose id can be read is numbered",
        [event(SPACE, "a", at="noon"), event(SPACE, "b")],
        [(0, "a", "lettered"), (1, "b", "committed")],
        1,
    ),
    ("what is no turn is a letter alone", [b"not json", event(SPACE, "b")], [(0, "b", "committed")], 1),
    ("not even UTF-8", [b"\xff\xfe{", event(SPACE, "b")], [(0, "b", "committed")], 1),
    ("another space in the payload", [event("evil/u-1", "a"), event(SPACE, "b")], [(0, "b", "committed")], 1),
    (
        "a control event of a tenant",
        [event(SPACE, "a", kind="control", event_id="x"), event(SPACE, "b")],
        [(0, "x", "lettered"), (1, "b", "committed")],
        1,
    ),
    ("unknown fields are refused", [event(SPACE, "a", colour="red")], [(0, "a", "lettered")], 1),
]


@pytest.mark.parametrize(("what", "log", "expected", "letters"), CASES, ids=[case[0] for case in CASES])
async def test_outcomes(
    tmp_path: Path, what: str, log: list[bytes], expected: list[tuple[int, str, str]], letters: int
) -> None:
    home = Home(tmp_path / "log.sqlite")
    home.publish(SPACE, *log)
    await home.run()
    assert outcomes(home) == expected
    assert len(list(Journal(home.path).letters())) == letters


async def test_reasons_name_the_space_the_turn_and_the_field(tmp_path: Path) -> None:
    home = Home(tmp_path / "log.sqlite")
    home.publish(SPACE, event(SPACE, "a", colour="red"))
    await home.run()
    (letter,) = Journal(home.path).letters()
    for word in ("'a'", SPACE, "colour"):
        assert word in letter.reason
    assert letter.original == event(SPACE, "a", colour="red")


async def test_lone_surrogates_are_dropped_and_pairs_joined(tmp_path: Path) -> None:
    home = Home(tmp_path / "log.sqlite")
    raw = event(SPACE, "a", "x").replace(b'"x"', b'"bad \\ud800 good \\ud83d\\ude00"')
    home.publish(SPACE, raw)
    await home.run()
    texts = [json.loads(row)["text"] for row in home.memory(SPACE) if '"row":"record"' in row]
    assert texts == ["bad  good \U0001f600"]


async def test_a_window_comes_with_the_next_turn_that_is_not_lettered(tmp_path: Path) -> None:
    home = Home(tmp_path / "log.sqlite")
    home.publish(SPACE, event(SPACE, "a", "one"), event(SPACE, "b", " "), event(SPACE, "c", "two"))
    await home.run()
    windows = [json.loads(row) for row in home.memory(SPACE) if '"kind":"window"' in row]
    assert [(w["text"], w["since"], w["provenance"]) for w in windows] == [("mia: one\nmia: two", 2, ["a", "c"])]


async def test_the_first_stage_never_runs_more_than_w_ahead(tmp_path: Path) -> None:
    home = Home(tmp_path / "log.sqlite")
    home.publish(SPACE, *(event(SPACE, str(i), f"turn {i}") for i in range(300)))
    depths: list[int] = []

    class Watching(Embedded):
        def _done(self, node: object, cut: Cut) -> None:
            super()._done(node, cut)  # type: ignore[arg-type]  # passes on what it was given
            if cut.stage == "normalize":
                depths.append(cut.header.position - self.watermarks.watermark(cut.space))

    await home.run(Watching)
    assert len(outcomes(home)) == 300
    assert max(depths) <= 64


class Killer:
    """Dies at the n-th effect of all, before or after it is performed."""

    def __init__(self, at: int, *, after: bool) -> None:
        self.left, self.after = at, after

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("outputs", "sink", "state", "offset"):
            monkeypatch.setattr(_Ports, name, self._wrap(getattr(_Ports, name)))

    def _wrap(self, effect: object) -> object:
        killer = self

        async def wrapped(ports: _Ports, cut: Cut) -> None:
            killer.left -= 1
            if killer.left == 0 and not killer.after:
                raise Died
            await effect(ports, cut)  # type: ignore[operator]  # one of the four effects
            if killer.left == 0:
                raise Died

        return wrapped


LOG = [event(SPACE, str(i), f"turn {i}" if i % 7 else " ") for i in range(70)] + [b"junk", event(SPACE, "3")]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kills=st.lists(st.tuples(st.integers(1, 60), st.booleans()), min_size=1, max_size=4))
async def test_death_between_any_two_effects_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, kills: list[tuple[int, bool]]
) -> None:
    calm, killed = (Home(tmp_path_factory.mktemp(name) / "log.sqlite") for name in ("calm", "killed"))
    for home in (calm, killed):
        home.publish(SPACE, *LOG)
        home.publish("acme/u-2", *(line.replace(b"u-1", b"u-2") for line in LOG[:10]))
    await calm.run()
    for at, after in kills:
        with pytest.MonkeyPatch.context() as patch:
            Killer(at, after=after).install(patch)
            try:
                await killed.run()
            except* Died:
                pass
    await killed.run()
    assert killed.index.rows == calm.index.rows
    for space in (SPACE, "acme/u-2"):
        assert killed.memory(space) == calm.memory(space)
