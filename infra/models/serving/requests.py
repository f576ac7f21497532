"""Requests for vectors and scores, and their answers, as OpenAI, Jina and Cohere spell them."""

from __future__ import annotations

from asyncio import gather
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any, Final, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from infra.errors import MissingError
from stages.contract import Unavailable
from stages.ports import Embedder, Reranker

R = TypeVar("R", bound=BaseModel)

_LENGTH: Final = 127.0
_MOST: Final = 2048
"""Texts of a request; OpenAI's own limit."""


class Asked(BaseModel):
    """What every request has; members that are not known are passed over, since clients send various ones."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    model: str


class EmbeddingsAsked(Asked):
    """A request for vectors. ``input_type`` is Cohere's: questions are embedded by themselves, ahead of bulk work."""

    input: str | Annotated[list[str], Field(max_length=_MOST)]
    encoding_format: Literal["float", "base64"] = "float"
    input_type: Literal["document", "query"] = "document"

    @property
    def texts(self) -> list[str]:
        """The texts, however they were written."""
        return [self.input] if isinstance(self.input, str) else self.input


class RerankAsked(Asked):
    """A request for scores."""

    query: str
    documents: Annotated[list[str], Field(max_length=_MOST)]
    top_n: Annotated[int | None, Field(ge=1)] = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A status and a JSON value."""

    status: HTTPStatus
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Name:
    """By which name a model is asked for, and its revision (``""``: none)."""

    name: str
    revision: str

    def entry(self, kind: str) -> dict[str, Any]:
        """Return what the list of models says of it."""
        kinds = {"input_types": ["document", "query"]} if kind == "embeddings" else {}
        return {"id": self.name, "object": "model", "owned_by": "anabranch", "kind": kind} | self.said | kinds

    @property
    def said(self) -> dict[str, str]:
        """The revision, as answers bear it."""
        return {"revision": self.revision} if self.revision else {}


def named(model: str) -> Name:
    """Return the name of a port's ``model``: what stands before its revision."""
    name, _, revision = model.partition("@")
    return Name(name, revision)


async def embeddings(embedder: Embedder, body: bytes) -> Answer:
    """Answer ``POST /v1/embeddings``."""
    name = named(embedder.model)
    asked = _read(EmbeddingsAsked, body, name)
    if isinstance(asked, Answer):
        return asked
    try:
        vectors = await _vectors(embedder, asked)
    except (Unavailable, MissingError) as error:
        return refusal(HTTPStatus.SERVICE_UNAVAILABLE, str(error))
    rows = [
        {"object": "embedding", "index": index, "embedding": _spelled(vector, asked.encoding_format)}
        for index, vector in enumerate(vectors)
    ]
    return Answer(HTTPStatus.OK, {"object": "list", "model": name.name, "data": rows} | name.said)


async def _vectors(embedder: Embedder, asked: EmbeddingsAsked) -> Sequence[bytes]:
    if asked.input_type == "query":
        return await gather(*map(embedder.embed_query, asked.texts))
    return await embedder.embed(asked.texts)


async def rerank(reranker: Reranker, body: bytes) -> Answer:
    """Answer ``POST /v1/rerank``: probabilities, best first, ties as they were sent."""
    name = named(reranker.model)
    asked = _read(RerankAsked, body, name)
    if isinstance(asked, Answer):
        return asked
    try:
        scores = await reranker.score(asked.query, asked.documents)
    except (Unavailable, MissingError) as error:
        return refusal(HTTPStatus.SERVICE_UNAVAILABLE, str(error))
    rows = [{"index": index, "relevance_score": probability(score)} for index, score in enumerate(scores)]
    rows.sort(key=lambda row: -row["relevance_score"])
    return Answer(HTTPStatus.OK, {"model": name.name, "results": rows[: asked.top_n]} | name.said)


def probability(score: int) -> float:
    """Return the probability of a score in thousandths of a logit, as servers give it."""
    return float(1 / (1 + np.exp(np.float64(-score / 1000))))


def refusal(status: HTTPStatus, message: str) -> Answer:
    """Return an error as OpenAI spells it."""
    return Answer(status, {"error": {"message": message, "type": status.phrase, "code": status.value}})


def _read(kind: type[R], body: bytes, name: Name) -> R | Answer:
    try:
        asked = kind.model_validate_json(body)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:5])
        return refusal(HTTPStatus.BAD_REQUEST, faults)
    if isinstance(asked, Asked) and asked.model != name.name:
        return refusal(HTTPStatus.NOT_FOUND, f"there is no model {asked.model!r} here, but {name.name!r}")
    return asked


def _spelled(vector: bytes, form: str) -> str | list[float]:
    """Return a unit vector whose components are those of the int8 one over 127, so that a client gets that back."""
    numbers = np.frombuffer(vector, dtype=np.int8).astype("<f4") / np.float32(_LENGTH)
    return b64encode(numbers.tobytes()).decode() if form == "base64" else [float(number) for number in numbers]
