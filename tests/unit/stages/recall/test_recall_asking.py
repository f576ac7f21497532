from __future__ import annotations

from collections.abc import Sequence

import pytest

from schemas.turn import Role, Speaker
from stages.recall.asking import People, speaks_of_self

MIA = Speaker(id="u-1", name="Mia")
MELANIE = Speaker(id="u-3", name="Melanie")
MELVIN = Speaker(id="u-6", name="Melvin")
BEN = Speaker(id="u-2", name="Ben Okafor")
WILL = Speaker(id="u-4", name="Will")
BOT = Speaker(id="bot", name="Rook", role=Role.AGENT)
YUKI = Speaker(id="u-5", name="由紀")


def people(*speakers: Speaker) -> People:
    return People({speaker.id: speaker for speaker in speakers})


@pytest.mark.parametrize(
    ("question", "asker", "there", "meant"),
    [
        ("Where did Mia go?", None, [MIA, BEN], {"u-1"}),
        ("where did mia's sister go?", None, [MIA, BEN], {"u-1"}),
        ("What does Ben Okafor paint?", None, [MIA, BEN], {"u-2"}),
        ("What does Ben paint?", None, [MIA, BEN], {"u-2"}),
        ("What does u-2 paint?", None, [MIA, BEN], {"u-2"}),
        ("What did Mel paint?", None, [MIA, MELANIE], {"u-3"}),
        ("What did Mel paint?", None, [MIA, MELANIE, MELVIN], set()),
        ("What did mel paint?", None, [MIA, MELANIE], set()),
        ("When will we see the bend?", None, [MIA, BEN, WILL], set()),
        ("Did they like Miami?", None, [MIA, BEN], set()),
        ("Who met first, Mia or Ben?", None, [MIA, BEN, BOT], {"u-1", "u-2"}),
        ("Who met first, Mia or Ben?", None, [MIA, BEN], set()),
        ("Where is my sister?", "u-1", [MIA, BEN], {"u-1"}),
        ("Where is my sister?", "Mia", [MIA, BEN], {"u-1"}),
        ("Where is my sister?", None, [MIA, BEN], set()),
        ("Where is my sister?", None, [MIA, BOT], {"u-1"}),
        ("Which book did you suggest?", "u-1", [MIA, BOT], {"bot"}),
        ("Which book did you suggest to me?", "u-1", [MIA, BOT], set()),
        ("What did you tell about the boat?", "bot", [MIA, BOT], {"u-1"}),
        ("由紀 は どこ", None, [MIA, YUKI], {"u-5"}),
        ("Where?", "u-1", [MIA, BEN], set()),
        ("Where?", None, [], set()),
    ],
)
def test_who_is_meant(question: str, asker: str | None, there: Sequence[Speaker], meant: set[str]) -> None:
    assert people(*there).meant(question, asker) == meant


@pytest.mark.parametrize(
    ("question", "own"),
    [("Where is my sister?", True), ("I'm late, where is it?", True), ("Where is it?", False), ("mine field", True)],
)
def test_whether_askers_speak_of_themselves(question: str, *, own: bool) -> None:
    assert speaks_of_self(question) is own
