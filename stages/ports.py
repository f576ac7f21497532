"""What stages and the read side need from outside. Narrow on purpose: a stage cannot write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, NamedTuple, Protocol, TypeVar

from schemas.base import Model
from schemas.committed import Committed
from schemas.localized import Placement
from schemas.memory import OPEN, RecordKind, RecordRow
from schemas.recall import Question, Recalled
from schemas.space import Space
from stages.prompts import Prompt
from stages.woven import Woven

A = TypeVar("A", bound=Model)


class Embedder(Protocol):
    """Texts to int8 vectors (one byte a dimension, two's complement, unit vectors scaled to length 127).

    A vector is a function of its text alone, bit for bit on one machine, whatever else is embedded with it.
    """

    @property
    def model(self) -> str:
        """Name and revision of the model; recorded with the index and checked at start."""
        ...

    @property
    def dimension(self) -> int:
        """Bytes of a vector."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return a vector for each text, in order. Meant for many at once; caches recent ones.

        Raises:
            Unavailable: if the model does not answer.
        """
        ...

    async def embed_query(self, text: str) -> bytes:
        """Return the vector of a single short text at the least latency, for the read side."""
        ...


@dataclass(frozen=True, slots=True)
class Request(Generic[A]):
    """What a stage asks of a language model, longest stable part first: prompt, then ``frame``, then ``data``.

    ``frame`` is what the requests of a space have in common for a while (its views), ``data`` what this one is about,
    written by ``stages.prompts.as_data`` so that no text can be taken for instructions. ``check`` says what is wrong
    with an answer of the right shape, in words that the model is shown when it is asked once more.
    """

    space: Space
    prompt: Prompt[A]
    data: str
    frame: str = ""
    check: Callable[[A], str | None] | None = None


class LanguageModel(Protocol):
    """Answers by JSON Schema. The same request always gets the same answer: each is kept before it is used."""

    @property
    def model(self) -> str:
        """Name of the model, as records and results bear it."""
        ...

    async def ask(self, request: Request[A]) -> A | None:
        """Return the answer, validated, or ``None`` if it is of no use after one further try, or over the budget.

        The caller then goes by its rules and marks what it makes ``degraded``.

        Raises:
            Unavailable: if the model does not answer.
        """
        ...


class Reranker(Protocol):
    """Judges how well texts answer a query, each pair read as a whole (a cross-encoder)."""

    @property
    def model(self) -> str:
        """Name and revision of the model."""
        ...

    async def score(self, query: str, texts: Sequence[str]) -> list[int]:
        """Return a score for each text, in thousandths of a logit.

        Raises:
            Unavailable: if the model does not answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class Filter:
    """Which records of a space a read may see.

    ``as_of`` is the last position seen: records with ``since <= as_of`` that are not closed at or before it.
    The other fields narrow further where they are given (``None`` = any); ``turn_ids`` selects what rests on one of
    these turns, be it first or not (a window rests on its neighbours too); ``closed_too`` also shows closed records.
    """

    space: Space
    as_of: int
    kinds: frozenset[RecordKind]
    owners: frozenset[str] | None = None
    turn_ids: frozenset[str] | None = None
    key_attribute: str | None = None
    key_subject: str | None = None
    branches: frozenset[int] | None = None
    closed_too: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A record found by a search. ``score`` is an integer: the dot product of int8 vectors, or BM25 in thousandths.

    ``until`` is the position at which it was closed (``OPEN`` if not), ``changed`` its change mark
    (position, successor) and ``left`` the position at which it left working memory, if they are at or before the
    position read as of. ``successor`` is the record that corrected a closed one, where the index can tell.
    """

    record: RecordRow
    score: int = 0
    until: int = OPEN
    changed: tuple[int, str] | None = None
    left: int | None = None
    successor: str | None = None


class Match(NamedTuple):
    """A search result without its body: enough to rank. A tuple, since a recall makes hundreds.

    ``turn_id`` is the anchor: the first of its provenance. ``branch`` is the position of the root of its branch,
    ``parent`` the turn id it continues, ``session`` the client's session, where known. ``said_at`` is the position of
    the anchor where that is not ``since``; ``others`` are the further turns that an item is evidence of, in order.
    """

    record_id: str
    kind: RecordKind
    turn_id: str
    since: int
    score: int
    owner: str | None = None
    branch: int | None = None
    parent: str | None = None
    session: str | None = None
    said_at: int | None = None
    others: tuple[str, ...] = ()


class History(Protocol):
    """Exact reads of memory as of a position, for stages. Statistics are of the same space and position only.

    Results are ordered by (score descending, record id), cut after fetching past ties.
    All methods raise ``Unavailable`` when the index does not answer.
    """

    async def nearest(self, where: Filter, vectors: Sequence[bytes], limit: int) -> list[list[Found]]:
        """For each int8 vector return the ``limit`` records of greatest dot product."""
        ...

    async def lexical(self, where: Filter, queries: Sequence[Sequence[str]], limit: int) -> list[list[Found]]:
        """For each list of tokens return the ``limit`` best records by BM25."""
        ...

    async def matching(self, where: Filter, limit: int) -> list[Found]:
        """Return the newest ``limit`` records that the filter alone selects, ordered by (-since, id)."""
        ...

    async def fetch(self, space: Space, as_of: int, record_ids: Sequence[str]) -> list[Found]:
        """Return the records of these ids that exist as of ``as_of``, closed ones too, in the order asked."""
        ...


class Search(Protocol):
    """Reads for the read side. May be approximate in large spaces; never crosses a space.

    All methods raise ``Unavailable`` when the index does not answer.
    """

    async def dense(self, where: Filter, vector: bytes, limit: int) -> list[Match]:
        """Return the records of greatest dot product with an int8 vector, best first."""
        ...

    async def sparse(self, where: Filter, tokens: Sequence[str], limit: int) -> list[Match]:
        """Return the best records by BM25 over these tokens, best first."""
        ...

    async def fetch(self, space: Space, as_of: int, record_ids: Sequence[str]) -> list[Found]:
        """Return the records of these ids that exist as of ``as_of``, closed ones too, in the order asked."""
        ...

    async def matching(self, where: Filter, limit: int) -> list[Found]:
        """Return the newest ``limit`` records that the filter alone selects, ordered by (-since, id)."""
        ...

    async def edges(self, space: Space, as_of: int, record_ids: Sequence[str], limit: int) -> Woven:
        """Return the edges at these records, be it at their source or their target, that were there as of ``as_of``.

        Those of the newest ``limit`` events of turns that have any, and of as many without a turn; of each kind every
        edge once, ordered by source, target and type. What an event without a turn made has edges while it is open.
        """
        ...

    async def watermark(self, space: Space) -> int:
        """Return the last position whose records are all there (-1: none)."""
        ...


class Localizer(Protocol):
    """Where a text that is not published would hang in the forest, judged as if it came next."""

    async def locate(self, space: Space, text: str, speaker: str | None, at: datetime | None) -> Placement:
        """Return the placement; ``speaker`` is a participant's id, ``at`` defaults to the space's last turn.

        Raises:
            Unavailable: if the index or the model does not answer.
        """
        ...


class Searching(Protocol):
    """The read side as the agents that answer need it: the recall that anybody gets. Raises what ``Search`` does."""

    async def recall(self, space: Space, question: Question) -> Recalled:
        """Return the hits for a question, best first."""
        ...

    async def profile(self, space: Space, question: Question, limit: int) -> tuple[RecordRow, ...]:
        """Return the open persona and topic records that suit a question, best first, ``limit`` at most."""
        ...


class IndexWriter(Protocol):
    """The sink of ``commit``: the only way to write the index."""

    async def write(self, space: Space, batch: Sequence[Committed]) -> None:
        """Write the rows of these events durably.

        Records, closings and marks first, the turns' own records last, then the watermark of the space. Writing the
        same again changes nothing.

        Raises:
            Unavailable: if the index does not answer.
            ValueError: if a row is refused, or a closing names a record that is not there.
        """
        ...
