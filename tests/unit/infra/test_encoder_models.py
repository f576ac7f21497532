"""The encoder on models of other shapes than the default: poolings, padding sides, prompts, no attention at all."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from infra.models import SentenceTransformerEmbedder
from infra.models.encoder import Encoder, quantize
from infra.models.location import locate
from tests.fakes.company import SmallEncoder
from tests.fakes.extras import with_models

pytestmark = with_models

WORDS = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] the sea wall dog floor kitchen is old blue we walked query text : passage".split()
)
TEXTS = ["the sea", "the old blue dog walked " * 9, "kitchen floor is old", "", "we", "zebra " * 40]


def transformer(folder: Path, side: str = "right") -> Any:
    """Return a random transformer of one layer that reads at most 40 tokens (no multiple of 16)."""
    import torch  # noqa: PLC0415 - slow imports, in tests that need them
    from sentence_transformers.sentence_transformer.modules import Transformer  # noqa: PLC0415
    from transformers import BertConfig, BertModel, BertTokenizer  # noqa: PLC0415 - as above

    torch.manual_seed(7)
    shape: dict[str, Any] = {
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": 40,
    }
    model = BertModel(BertConfig(vocab_size=len(WORDS), hidden_size=24, **shape))  # type: ignore[no-untyped-call]
    model.save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    tokenizer = BertTokenizer(str(folder / "vocab.txt"), model_max_length=40, padding_side=side)
    tokenizer.save_pretrained(folder)
    return Transformer(str(folder), max_seq_length=40)


def save(folder: Path, mode: str, side: str = "right", **settings: Any) -> Path:
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415
    from sentence_transformers.sentence_transformer.modules import Dense, Pooling  # noqa: PLC0415

    base = transformer(folder / "base", side)
    modules = [base, Pooling(24, pooling_mode=mode), Dense(24, 10)]
    SentenceTransformer(modules=modules, device="cpu", **settings).save(str(folder / "model"))
    return folder / "model"


def static(folder: Path) -> Path:
    """Return a model that looks words up and averages: its features are no rectangle."""
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding  # noqa: PLC0415

    tokenizer = transformer(folder / "base").tokenizer
    module = StaticEmbedding(tokenizer.backend_tokenizer, embedding_dim=12)
    SentenceTransformer(modules=[module], device="cpu").save(str(folder / "model"))
    return folder / "model"


KINDS: dict[str, Callable[[Path], Path]] = {
    "mean": lambda folder: save(folder, "mean"),
    "cls": lambda folder: save(folder, "cls"),
    "max": lambda folder: save(folder, "max"),
    "last token, padded left": lambda folder: save(folder, "lasttoken", "left"),
    "prompts": lambda folder: save(folder, "mean", prompts={"query": "query : ", "document": "passage : "}),
    "truncated": lambda folder: save(folder, "mean", truncate_dim=6),
    "static": static,
}


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_are_the_model_s_own_and_do_not_depend_on_company(kind: str, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415

    folder = KINDS[kind](tmp_path)
    model = SentenceTransformer(str(folder), device="cpu")
    embedder = SentenceTransformerEmbedder(str(folder), device="cpu", cache_bytes=0)
    together = asyncio.run(embedder.embed([*TEXTS, *(f"the {word}" for word in WORDS)]))
    for text, vector in zip(TEXTS, together, strict=False):
        assert asyncio.run(embedder.embed([text])) == [vector], text
        assert near(vector, model.encode_document(text)), text
        assert near(asyncio.run(embedder.embed_query(text)), model.encode_query(text)), text
    assert {len(vector) for vector in together} == {embedder.dimension}
    embedder.close()


def near(vector: bytes, expected: Any) -> bool:
    wanted = np.frombuffer(quantize(np.asarray(expected, dtype=np.float64)), dtype=np.int8)
    return int(np.abs(np.frombuffer(vector, dtype=np.int8).astype(int) - wanted.astype(int)).max()) <= 1


def test_a_saved_setting_is_another_revision(tmp_path: Path) -> None:
    folder = save(tmp_path, "mean")
    before = SentenceTransformerEmbedder(str(folder)).model
    file = folder / "config_sentence_transformers.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"prompts": {"query": "q: "}}))
    assert SentenceTransformerEmbedder(str(folder)).model != before


def test_a_second_encoder_of_a_process_has_as_many_threads_as_the_first(tmp_path: Path) -> None:
    """Each call has one thread of torch; what torch would choose is looked up before the first encoder says so."""
    where = locate(str(save(tmp_path, "mean")))
    first, second, own = Encoder(where, "cpu", None), Encoder(where, "cpu", None), Encoder(where, "cpu", 3)
    assert first.calls == second.calls
    assert own.calls == 3


def test_one_thread_tokenizes_at_a_time() -> None:
    """A tokenizer may be changed by each call; one that is refuses a second call meanwhile."""
    encoder = SmallEncoder()
    with ThreadPoolExecutor(4) as pool:
        both = pool.map(lambda _: (encoder.query("who?"), len(encoder.prepare(TEXTS))), range(200))
        assert set(both) == {(encoder.query("who?"), len(TEXTS))}
