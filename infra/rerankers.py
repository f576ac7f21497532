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
_ANSWER_S: Final = 30.0


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
        except Unavailable:
            raise
        except Exception as error:  # a model that is missing, or any fault of it: recall goes on without it
            msg = f"the reranker {self.model} does not answer: {str(error) or repr(error)}"
            raise Unavailable(msg) from error

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
    secret = None if key is None else key.get_secret_value()
    made = reranker_of(settings.reranker, settings.threads, secret, min(_ANSWER_S, settings.reranker_wait))
    return BoundedReranker(made, settings.reranker_wait)


def reranker_of(
    choice: str, threads: int | None = None, key: str | None = None, answer_s: float = _ANSWER_S
) -> HttpReranker | CrossEncoderReranker:
    """Build a reranker by its name; one that is served has ``answer_s`` for a call. Raises what ``make_reranker`` does.

    Nobody waits for a call that goes on past the wait of recall, but a process that ends does.
    """
    try:
        check_reranker(choice)
    except ValueError as error:
        msg = f"no reranker is called {choice!r}: for ANABRANCH_RERANKER {error}"
        raise UsageError(msg) from None
    word, _, name = choice.partition(":")
    if word == _SERVED:
        from infra.models.http_reranker import HttpReranker  # noqa: PLC0415 - settings are checked without a client

        return HttpReranker(name, key, answer_s=answer_s)
    from infra.models.cross_encoder import CrossEncoderReranker  # noqa: PLC0415 - nor without numpy

    return CrossEncoderReranker(name, threads=threads)
