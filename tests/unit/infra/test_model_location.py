"""Finding a model, and what is said when it is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from huggingface_hub import constants

from infra.embedders import make_embedder
from infra.errors import ModelMissing, UsageError
from infra.models import HashEmbedder
from infra.models.location import locate
from infra.models.vector_cache import VectorCache
from tests.fakes.extras import with_models

pytestmark = with_models


def model_folder(root: Path, weights: bytes = b"w" * 100, **pooling: object) -> Path:
    kinds = ["Transformer", "Pooling", "Normalize"]
    (root / "1_Pooling").mkdir(parents=True)
    (root / "modules.json").write_text(json.dumps([{"type": f"sentence_transformers.models.{kind}"} for kind in kinds]))
    settings = {"word_embedding_dimension": 48, "pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}
    (root / "1_Pooling" / "config.json").write_text(json.dumps(settings | pooling))
    (root / "model.safetensors").write_bytes(weights)
    return root


def test_a_folder_tells_name_revision_and_dimension(tmp_path: Path) -> None:
    where = locate(str(model_folder(tmp_path / "small")))
    assert (where.name, where.dimension, len(where.revision)) == ("small", 48, 12)


def test_other_weights_are_another_revision(tmp_path: Path) -> None:
    revisions = {
        locate(str(model_folder(tmp_path / name / "m", weights))).revision for name, weights in VARIANTS.items()
    }
    assert len(revisions) == len(VARIANTS) - 1  # `same` equals `plain`


VARIANTS = {
    "plain": b"w" * 5_000_000,
    "same": b"w" * 5_000_000,
    "shorter": b"w" * 4_999_999,
    "end": b"w" * 4_999_999 + b"x",
    "middle": b"w" * 2_000_000 + b"x" * 1_000_000 + b"w" * 2_000_000,
}


def test_a_dimension_that_is_not_plain_is_left_to_the_model(tmp_path: Path) -> None:
    assert locate(str(model_folder(tmp_path / "two", pooling_mode_cls_token=True))).dimension is None


@pytest.mark.parametrize("name", ["/no/such/folder", "./nowhere", "~/no-such-model-folder"])
def test_a_missing_folder_is_named(name: str) -> None:
    with pytest.raises(ModelMissing, match="no such folder"):
        locate(name)


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match=r"modules\.json"):
        locate(str(tmp_path))


def test_offline_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelMissing, match="hf download acme/never-heard-of") as caught:
        locate("acme/never-heard-of")
    assert caught.value.exit_code == 3


def test_the_setting_chooses(tmp_path: Path) -> None:
    assert isinstance(make_embedder("hash"), HashEmbedder)
    assert make_embedder(f"sentence-transformers:{model_folder(tmp_path / 'm')}").model.startswith("m@")
    with pytest.raises(UsageError, match="ANABRANCH_EMBEDDER"):
        make_embedder("word2vec:x")


def test_the_cache_keeps_what_was_used_last_within_its_bytes() -> None:
    cache = VectorCache(3 * 300)
    for text in ("a", "b"):
        cache.put(text, bytes(32))
    assert cache.get("a") is not None
    cache.put("c", bytes(32))
    cache.put("d", bytes(32))
    assert [cache.get(text) is not None for text in "abcd"] == [True, False, True, True]
    assert cache.held <= 900
