"""The ``Embedder`` port on an OpenAI-compatible endpoint for embeddings."""

from __future__ import annotations

import asyncio
import binascii
import math
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from infra.address import Address
from infra.errors import UsageError
from infra.models.encoder import Prepared, quantize
from infra.models.endpoint import Endpoint, RefusedError, sendable
from infra.models.pool import EncoderPool
from stages.contract import Unavailable

_CACHE: Final = 64 * 1024 * 1024
_BUCKET: Final = 16
"""All texts go into calls of 16 rows, whatever their lengths: how a call is padded is the server's matter."""
LONGEST: Final = 4096
"""Bytes of a vector up to which dot products are exact in the index."""
_PROBE: Final = "How long is a vector?"
_START_S: Final = 10.0
"""Seconds for each of the two questions at the start, for whose answers a whole process may stand still."""
_SHORT: Final = 256
"""Characters of a text that no model finds too long: what is refused here is refused for something else."""


class TextRefusedError(ValueError):
    """The endpoint answers, but not for this text: for a stage no matter of waiting."""


@dataclass(frozen=True, slots=True)
class Card:
    """What an endpoint says of its model. ``takes_queries``: it embeds questions apart if it is told (ours does)."""

    revision: str | None = None
    takes_queries: bool = False

    @classmethod
    def asked(cls, endpoint: Endpoint) -> Card:
        """Return what the endpoint's list of models says; a server that has no such list says nothing.

        Raises:
            Unavailable: if it does not answer.
        """
        listed = endpoint.get("models", _START_S)
        models = listed.get("data") if isinstance(listed, dict) else None
        for entry in models if isinstance(models, list) else []:
            if isinstance(entry, dict) and entry.get("id") == endpoint.address.model:
                kinds = entry.get("input_types")
                return cls(_revision(entry), isinstance(kinds, list) and "query" in kinds)
        return cls()


class EndpointEncoder:
    """Encodes by requests of at most 16 texts, ``calls`` at a time; stands in an ``EncoderPool`` for a loaded model.

    Asks the endpoint once for its card and the length of a vector, and holds every later answer to them.

    Raises:
        Unavailable: if it does not answer, or not with a vector.
        UsageError: if its vectors are longer than the index takes.
    """

    calls = 8
    """Requests at once: enough for a server that batches, and a lane is not the only one who waits for it."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._dimension: int | None = None
        self.card = Card.asked(endpoint)
        self.dimension = self._dimension = len(self._asked([_PROBE], within_s=_START_S)[0])
        if self.dimension > LONGEST:
            msg = (
                f"{endpoint.address} has vectors of {self.dimension} numbers, and {LONGEST} are the most: name another"
            )
            raise UsageError(msg)

    def prepare(self, texts: Sequence[str]) -> list[Prepared]:
        """Return the texts as they can be sent."""
        return [Prepared({"text": sendable(text)}, _BUCKET) for text in texts]

    def encode(self, rows: Sequence[Prepared]) -> list[bytes]:
        """Return the vectors of up to 16 texts, by one request.

        Raises:
            RefusedError: if one of several is refused: the pool then asks for each alone.
            TextRefusedError: if it is the only one.
            Unavailable: if the endpoint does not answer, or with something else than vectors.
        """
        texts = [str(row.features["text"]) for row in rows]
        return self._asked(texts) if len(texts) > 1 else [self._alone(texts[0])]

    def query(self, text: str) -> bytes:
        """Return the vector of a question; raises what ``encode`` does."""
        return self._alone(sendable(text), is_query=self.card.takes_queries)

    def _alone(self, text: str, *, is_query: bool = False) -> bytes:
        """Ask for one text; one that is too long for the model is halved until it fits, as ours is cut."""
        while True:
            try:
                return self._asked([text], is_query=is_query)[0]
            except RefusedError as error:
                if len(text) <= _SHORT:
                    raise self._blamed(text, error) from error
                text = text[: len(text) // 2]

    def _blamed(self, text: str, error: RefusedError) -> Exception:
        """Tell whether a text is at fault, or an endpoint that refuses every text."""
        try:
            self._asked([_PROBE])
        except RefusedError:
            return Unavailable(str(error))
        except Unavailable as other:
            return other
        return TextRefusedError(f"{error}; the text was {text!r}")

    def _asked(self, texts: Sequence[str], *, is_query: bool = False, within_s: float | None = None) -> list[bytes]:
        wanted = {"model": self._endpoint.address.model, "input": list(texts), "encoding_format": "base64"}
        told = {"input_type": "query"} if is_query else {}
        answer = self._endpoint.post("embeddings", wanted | told, within_s)
        said = _revision(answer) if isinstance(answer, dict) else None
        if None not in (said, self.card.revision) and said != self.card.revision:
            self._endpoint.unfit(
                f"it serves revision {said}, and began with {self.card.revision}: start this process again, and if "
                "the model was changed, bring the memory to it by `anabranch reindex --vectors`"
            )
        return [self._vector(row) for row in self._rows(answer, len(texts))]

    def _rows(self, answer: Any, count: int) -> list[Any]:  # noqa: ANN401 - JSON
        data = answer.get("data") if isinstance(answer, dict) else None
        rows = [row for row in data if isinstance(row, dict)] if isinstance(data, list) else []
        by_index = {row.get("index"): row.get("embedding") for row in rows if type(row.get("index")) is int}
        if len(rows) != count or by_index.keys() != set(range(count)):
            self._endpoint.unfit(f"{count} texts were sent, and {len(rows)} vectors came back, or in no order")
        return [by_index[index] for index in range(count)]

    def _vector(self, given: Any) -> bytes:  # noqa: ANN401 - JSON
        numbers = _numbers(given)
        if numbers is None or numbers.ndim != 1 or not _has_length(numbers):
            self._endpoint.unfit("what came back for a text is no vector of finite numbers with a length")
        if self._dimension not in (None, len(numbers)):
            self._endpoint.unfit(f"a vector of {len(numbers)} came back, and the model's have {self._dimension}")
        return quantize(numbers)


class HttpEmbedder:
    """Vectors of a model that is served elsewhere, as int8. Asked for its name and dimension when first needed.

    Concurrent calls are merged and recent vectors kept, as for a model in process. Whether a text gets the same bits
    in every call depends on the server: ours gives them, others may not. So a vector that a stage made is the one that
    travels, and no stage asks for it again.
    """

    def __init__(self, name: str, key: str | None = None, *, answer_s: float = 60.0, cache_bytes: int = _CACHE) -> None:
        self._endpoint = Endpoint(Address.read(name), key, answer_s)
        self._lock = Lock()
        self._encoder: EndpointEncoder | None = None
        self._pool = EncoderPool(self._ready, cache_bytes)

    @property
    def model(self) -> str:
        """Name and revision, where the endpoint says one; asks it.

        Raises:
            Unavailable: if it does not answer.
        """
        return f"{self._endpoint.address.model}@{self._ready().card.revision or 'unstated'}"

    @property
    def dimension(self) -> int:
        """Bytes of a vector; raises what ``model`` does."""
        return self._ready().dimension

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return a vector for each text, in order.

        Raises:
            Unavailable: if the endpoint does not answer, or with something else than vectors.
            TextRefusedError: if it answers, but not for one of these.
        """
        if not texts:
            return []
        return await asyncio.wrap_future(self._pool.submit(tuple(texts)))

    async def embed_query(self, text: str) -> bytes:
        """Return the vector of one text ahead of bulk work that waits here; raises what ``embed`` does."""
        return await asyncio.wrap_future(self._pool.submit_query(text))

    def close(self) -> None:
        """Stop after the running calls; who still waits gets ``Unavailable``."""
        self._pool.close()
        self._endpoint.close()

    def _ready(self) -> EndpointEncoder:
        with self._lock:
            if self._encoder is None:
                self._encoder = EndpointEncoder(self._endpoint)
            return self._encoder


def _revision(said: Mapping[str, Any]) -> str | None:
    revision = said.get("revision")
    return revision if isinstance(revision, str) and revision else None


def _has_length(numbers: NDArray[np.float64]) -> bool:
    """Tell whether a vector has a length that is a number, and not zero: only such a one has a direction."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        length = float(np.sqrt(np.dot(numbers, numbers)))
    return 0.0 < length < math.inf


def _numbers(given: Any) -> NDArray[np.float64] | None:  # noqa: ANN401 - JSON
    """Return a vector as sent: little-endian floats in base64 as asked for, or the list that some servers send."""
    try:
        if isinstance(given, str):
            return np.frombuffer(b64decode(given, validate=True), dtype="<f4").astype(np.float64)
        return np.asarray(given, dtype=np.float64) if isinstance(given, list) else None
    except (ValueError, TypeError, OverflowError, RecursionError, binascii.Error):
        return None
