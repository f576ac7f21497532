"""Rerankers without a trained model: one that counts shared words, and a real cross-encoder of random weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stages.contract import Unavailable
from stages.text.tokens import tokens

_WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] the sea ferry leaves at nine dog floor kitchen is old blue we walked".split()


@dataclass
class WordsShared:
    """Implements ``Reranker``: a logit for each word that query and text share. ``down`` makes it not answer."""

    model: str = "words@1"
    down: bool = False
    asked: list[tuple[str, list[str]]] = field(default_factory=list)

    async def score(self, query: str, texts: Sequence[str]) -> list[int]:
        if self.down:
            msg = "the reranker does not answer"
            raise Unavailable(msg)
        self.asked.append((query, list(texts)))
        wanted = set(tokens(query))
        return [1000 * len(wanted & set(tokens(text))) - 500 for text in texts]


def small_cross_encoder(folder: Path, labels: int = 1) -> Path:
    """Save a cross-encoder of one layer whose weights are chance; no trained one can be had offline."""
    import torch  # noqa: PLC0415 - slow imports, in tests that need them
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer  # noqa: PLC0415 - as above

    torch.manual_seed(3)
    shape: dict[str, Any] = {
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": 64,
        "initializer_range": 0.5,
        "num_labels": labels,
    }
    config = BertConfig(vocab_size=len(_WORDS), hidden_size=24, **shape)
    BertForSequenceClassification(config).save_pretrained(folder)  # type: ignore[no-untyped-call]  # ships no types
    (folder / "vocab.txt").write_text("\n".join(_WORDS))
    BertTokenizer(str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)
    return folder
