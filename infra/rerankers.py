"""From the setting to a reranker, which recall waits for no longer than it is told."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from infra.address import FORM, Address
from infra.errors import UsageError
from stages.contract import Unavailable

if TYPE_CHECKING:
    from infra.models.cross_encoder import CrossEncoderReranker
    from infra.models.http_reranker import HttpReranker
    from infra.settings import Settings

_IN_PROCESS: Final = "sentence-transformers"
_SERVED: Final = "openai"


@dataclass(frozen=True, slots=True)
class BoundedReranker:
    """Implements ``Reranker``: one that has not answered after ``wait_s`` seconds does not answer."""

    inner: HttpReranker | CrossEncoderReranker
    wait_s: float

    @property
    def model(self) -> str:
        """The model behind it."""
        return self.inner.model

    async def score(self, query: str, texts: Sequence[str]) -> list[int]:
        """Return what the reranker gives.

        Raises:
            Unavailable: if it does not answer, or not in time.
        """
        try:
            return await asyncio.wait_for(self.inner.score(query, texts), self.wait_s)
        except TimeoutError:
            msg = f"the reranker has not answered within {self.wait_s:g} s"
            raise Unavailable(msg) from None

    def close(self) -> None:
        """Let go of the model."""
        self.inner.close()


def check_reranker(choice: str) -> None:
    """Check the form of what ``ANABRANCH_RERANKER`` names.

    Raises:
        ValueError: saying which forms there are.
    """
    word, _, name = choice.partition(":")
    if word == _SERVED:
        Address.read(name)
    elif word != _IN_PROCESS or not name:
        msg = f"write {FORM} or {_IN_PROCESS}:NAME_OR_FOLDER"
        raise ValueError(msg)


def make_reranker(settings: Settings) -> BoundedReranker | None:
    """Build what ``ANABRANCH_RERANKER`` names; none where it is unset.

    Raises:
        UsageError: if the form is another.
        ModelMissing: if the model is not here and cannot be fetched.
    """
    if settings.reranker is None:
        return None
    key = settings.reranker_key
    made = reranker_of(settings.reranker, settings.threads, None if key is None else key.get_secret_value())
    return BoundedReranker(made, settings.reranker_wait)


def reranker_of(choice: str, threads: int | None = None, key: str | None = None) -> HttpReranker | CrossEncoderReranker:
    """Build a reranker by its name, which waits as long as it takes; raises what ``make_reranker`` does."""
    try:
        check_reranker(choice)
    except ValueError as error:
        msg = f"no reranker is called {choice!r}: for ANABRANCH_RERANKER {error}"
        raise UsageError(msg) from None
    word, _, name = choice.partition(":")
    if word == _SERVED:
        from infra.models.http_reranker import HttpReranker  # noqa: PLC0415 - settings are checked without a client

        return HttpReranker(name, key)
    from infra.models.cross_encoder import CrossEncoderReranker  # noqa: PLC0415 - nor without numpy

    return CrossEncoderReranker(name, threads=threads)
