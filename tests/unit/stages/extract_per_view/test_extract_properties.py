"""What holds for any text and any number of turns."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from stages.contract import Emit
from stages.extract_per_view import ExtractPerView, ExtractState
from stages.extract_per_view.statements import states
from tests.fakes.busy import NoHistory
from tests.fakes.ear import Ear
from tests.fakes.embedder import DigestEmbedder


async def test_prepare_changes_nothing_and_leaves_one_call() -> None:
    ear = Ear(embedder=DigestEmbedder())
    for text in ("I live in Oslo.", "I own a red car.", "We went to Rome yesterday."):
        await ear.say(text)
    embedder = DigestEmbedder()
    stage = ExtractPerView(embedder, NoHistory())
    await stage.prepare([one.localized for one in ear.heard])
    assert len(embedder.calls) == 1
    state = ExtractState()
    for one in ear.heard:
        emitted = await stage.decide(one.localized, state)
        assert isinstance(emitted, Emit)
        assert emitted.message == one
        state = emitted.state
    assert {text for call in embedder.calls[1:] for text in call} <= set(embedder.calls[0])


async def test_state_is_flat() -> None:
    ear = Ear(embedder=DigestEmbedder())
    sizes = []
    for n in range(200):
        await ear.say(f"I own {n} red cars and my sister {n} lives in City {n} since 20{n % 90 + 10}.")
        sizes.append(sum(len(part) for part in ear.extracting.parts().values()))
    assert max(sizes) < 48_000
    assert max(sizes[150:]) < 1.1 * max(sizes[70:150])


@settings(max_examples=30, deadline=None)
@given(st.text(max_size=300))
async def test_any_text_is_survived(text: str) -> None:
    states(text)
    ear = Ear(embedder=DigestEmbedder())
    await ear.say(text)
    ear.check()
