"""One sentence-transformers model, called with fixed shapes only.

Matrix kernels choose their order of summation by the shape of their input, so a text's vector differs in its last
bits from one free batch to another (24 of 30, measured). Calls of fixed rows, with lengths padded to multiples of 16,
leave a vector that is a function of its text alone, for about the throughput of free batches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from threading import Lock
from time import perf_counter  # noqa: TID251 - see free_batches
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from infra.errors import ModelMissing
from infra.models.location import Location
from stages.contract import Unavailable

if TYPE_CHECKING:
    import torch
    from sentence_transformers import SentenceTransformer

_ROWS: Final = ((16, 16), (32, 8), (64, 4))
_LONG_ROWS: Final = 2
"""Rows of a bulk call by padded length, up to so many tokens: fixed, so that a vector is a function of its text alone.

More rows would hardly cost less a row (on one core 8, 13 and 16 ms for 32, 48 and 64 tokens with twice as many too;
past these 2 rows cost a tenth more than 4), and the rows that a part-filled call lacks are time lost: where one space
is all there is to do, a quarter of it.
"""
_CALLS: Final = 8
"""Calls at once at most: past these the threads of Python would stand in each other's way, so each call gets cores."""
_GRAIN: Final = 16
_LENGTH: Final = 127.0
_DOCUMENT_PROMPTS: Final = ("document", "passage", "corpus")  # in the order in which sentence-transformers looks

Features = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A tokenized text: one row of each tensor, not padded. ``bucket`` is its padded length; 0: goes alone."""

    features: Features
    bucket: int


class Encoding(Protocol):
    """What a pool's threads share: a model in process, or requests to one elsewhere."""

    @property
    def calls(self) -> int:
        """How many threads may use it at once."""
        ...

    def prepare(self, texts: Sequence[str]) -> list[Prepared]:
        """Make texts ready, each by itself."""
        ...

    def encode(self, rows: Sequence[Prepared]) -> list[bytes]:
        """Return the vectors of the texts of one call."""
        ...

    def query(self, text: str) -> bytes:
        """Return the vector of one text at the least latency."""
        ...


def rows_of(bucket: int) -> int:
    """Return how many rows a call of texts of this padded length has."""
    return next((rows for length, rows in _ROWS if bucket <= length), _LONG_ROWS)


class Encoder:
    """A loaded model, which ``calls`` threads may use at once.

    On a CPU a call has one core as long as there are few cores: two calls on a core each take three quarters of the
    time of one after the other on two cores, and none waits inside for a core that something else has. On another
    device there is one call at a time.
    """

    def __init__(self, where: Location, device: str | None, threads: int | None) -> None:
        import torch  # noqa: PLC0415 - seconds to import; only who encodes pays them
        import transformers  # noqa: PLC0415

        transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # it would blur our own bar
        self._threads = threads or _cores()
        chosen = device or ("cuda" if torch.cuda.is_available() else "cpu")
        try:
            self._model = self._read(where, chosen)
        except OSError as error:
            raise ModelMissing(
                where.name, f"{where.folder} is not complete: {error}", "fetch the model again"
            ) from error
        self._model.eval()
        self._torch = torch
        self._tokens = Lock()
        self.calls = min(self._threads, _CALLS) if self._model.device.type == "cpu" else 1
        torch.set_num_threads(self._threads // self.calls)  # what threads that begin from here on have
        self._prompt = _prompt(self._model, _DOCUMENT_PROMPTS)
        self._query_prompt = _prompt(self._model, ("query",))
        self.dimension: int = len(self.query(""))

    @staticmethod
    def _read(where: Location, device: str) -> Any:  # noqa: ANN401 - torch's modules have the members of any other's
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - as above

        return SentenceTransformer(str(where.folder), device=device, local_files_only=True)

    def prepare(self, texts: Sequence[str]) -> list[Prepared]:
        """Tokenize texts (cut at the model's greatest length); each result depends on its own text alone."""
        features = self._features(texts, self._prompt, "document")
        if not _rectangular(features, len(texts)):
            return [Prepared(self._features([text], self._prompt, "document"), 0) for text in texts]
        return [self._row(features, index) for index in range(len(texts))]

    def encode(self, rows: Sequence[Prepared]) -> list[bytes]:
        """Return the int8 vectors of up to ``rows_of`` texts of one bucket, by one call."""
        if rows[0].bucket == 0:
            return [self._run(row.features, "document")[0] for row in rows]
        shared = dict(rows[0].features)
        for name, value in rows[0].features.items():
            if self._torch.is_tensor(value):
                shared[name] = self._stack(name, [row.features[name] for row in rows], rows[0].bucket)
        return self._run(shared, "document")[: len(rows)]

    def query(self, text: str) -> bytes:
        """Return the vector of one text by a call of one row of its own length: least latency."""
        return self._run(self._features([text], self._query_prompt, "query"), "query")[0]

    def free_batches(self, texts: Sequence[str]) -> float:
        """Return the seconds that the model takes for ``texts`` in batches of 32 that it sorts and pads itself."""
        self._torch.set_num_threads(self._threads)
        try:
            began = perf_counter()
            self._model.encode(list(texts), batch_size=32, show_progress_bar=False)
            return perf_counter() - began
        finally:
            self._torch.set_num_threads(self._threads // self.calls)

    def _features(self, texts: Sequence[str], prompt: str | None, task: str) -> Features:
        clean = [text.encode("utf-8", "replace").decode() for text in texts]  # tokenizers refuse lone surrogates
        with self._tokens:  # a tokenizer is changed by each call (truncation, padding), and refuses a second one
            features: Features = self._model.preprocess(clean, prompt=prompt, task=task)
        return features

    def _row(self, features: Features, index: int) -> Prepared:
        mask = features["attention_mask"][index]
        attended = mask.nonzero()
        first, last = int(attended[0]), int(attended[-1]) + 1
        cut = {k: v[index, first:last] if self._torch.is_tensor(v) else v for k, v in features.items()}
        return Prepared(cut, self._bucket(last - first))

    def _bucket(self, length: int) -> int:
        padded = -(-length // _GRAIN) * _GRAIN
        limit = self._model.max_seq_length
        return max(length, min(padded, limit)) if limit else padded

    def _stack(self, name: str, rows: Sequence[torch.Tensor], length: int) -> torch.Tensor:
        """Pad rows to ``length``, their number to ``rows_of``; rows of padding attend to one token, not to divide by 0.

        Padding goes to the right whatever the tokenizer would do: so tokens keep the positions they have alone.
        """
        fill = (getattr(self._model.tokenizer, "pad_token_id", 0) or 0) if name == "input_ids" else 0
        out = self._torch.full((rows_of(length), length), fill, dtype=rows[0].dtype)
        for index, row in enumerate(rows):
            out[index, : len(row)] = row
        if name == "attention_mask":
            out[len(rows) :, 0] = 1
        return out

    def _run(self, features: Features, task: str) -> list[bytes]:
        """Run the model's own modules (whatever its pooling is) and quantize."""
        device = self._model.device
        moved = {k: v.to(device) if self._torch.is_tensor(v) else v for k, v in features.items()}
        try:
            with self._torch.inference_mode():
                out = self._forward(moved, task)
        except (MemoryError, self._torch.OutOfMemoryError) as error:
            msg = f"the encoder is out of memory: {error}"
            raise Unavailable(msg) from error
        return [self._spelled(row) for row in out.detach().to("cpu", self._torch.float64).numpy()]

    def _forward(self, features: Features, task: str) -> torch.Tensor:
        out: torch.Tensor = self._model(features, task=task)["sentence_embedding"]
        return out

    def _spelled(self, row: NDArray[np.float64]) -> bytes:
        return quantize(_finite(row[: self._model.truncate_dim]))


@cache
def _cores() -> int:
    """Return torch's choice of threads as it was before an encoder of this process changed it."""
    import torch  # noqa: PLC0415

    return torch.get_num_threads()


def _finite(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a model's vector; one with no length that is a number comes of broken weights or a broken device.

    Raises:
        Unavailable: if it is one: as int8 it would be rubbish, and be kept.
    """
    if not np.isfinite(np.dot(vector, vector)):
        msg = "the encoder gives no finite numbers: see to its files and to the device"
        raise Unavailable(msg)
    return vector


def quantize(vector: NDArray[np.float64]) -> bytes:
    """Return the unit vector times 127, each component rounded half to even, as int8."""
    length = float(np.sqrt(np.dot(vector, vector)))
    return np.rint(vector * (_LENGTH / length) if length else vector).astype(np.int8).tobytes()


def _rectangular(features: Features, rows: int) -> bool:
    """Tell whether all tensors are (rows, tokens), as an encoder of the usual kind takes them."""
    shapes = {tuple(value.shape) for value in features.values() if hasattr(value, "shape")}
    return (
        {"input_ids", "attention_mask"} <= features.keys()
        and len(shapes) == 1
        and all(
            len(shape) == 2 and shape[0] == rows  # noqa: PLR2004 - a matrix
            for shape in shapes
        )
    )


def _prompt(model: SentenceTransformer, names: Sequence[str]) -> str | None:
    """Return the prompt that ``encode_query`` or ``encode_document`` would use; an empty one means none."""
    name = next((name for name in names if name in model.prompts), model.default_prompt_name)
    return model.prompts.get(name) or None if name else None
