"""From the setting to an embedder. Another kind of embedder is an entry of ``_KINDS``.

Settings are checked here by processes that embed nothing, so each kind loads what it needs when one is made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from infra.address import FORM, Address
from infra.errors import UsageError

if TYPE_CHECKING:
    from pydantic import SecretStr

    from infra.models.hash_embedder import HashEmbedder
    from infra.models.http_embedder import HttpEmbedder
    from infra.models.sentence_transformer import SentenceTransformerEmbedder

Made: TypeAlias = "HashEmbedder | HttpEmbedder | SentenceTransformerEmbedder"


@dataclass(frozen=True, slots=True)
class _With:
    """What an embedder may need beside its name."""

    threads: int | None = None
    key: SecretStr | None = None


def _model(name: str, given: _With) -> Made:
    from infra.models.sentence_transformer import SentenceTransformerEmbedder  # noqa: PLC0415 - see above

    return SentenceTransformerEmbedder(name, threads=given.threads)


def _hash(name: str, _given: _With) -> Made:
    from infra.models.hash_embedder import HashEmbedder  # noqa: PLC0415 - see above

    return HashEmbedder(int(name)) if name else HashEmbedder()


def _served(name: str, given: _With) -> Made:
    from infra.models.http_embedder import HttpEmbedder  # noqa: PLC0415 - see above

    return HttpEmbedder(name, None if given.key is None else given.key.get_secret_value())


@dataclass(frozen=True, slots=True)
class _Kind:
    """How an embedder is written in the setting, and how it is made from a name (``""``: none) and what it needs."""

    form: str
    make: Callable[[str, _With], Made]
    takes: Callable[[str], bool]
    """Whether a name is one of this kind."""


_SIZES: Final = range(64, 4097)
"""Bytes of a vector: enough to tell texts apart, and up to which dot products are exact in the index."""


def _is_size(name: str) -> bool:
    return name.isascii() and name.isdigit() and int(name) in _SIZES


def _is_address(name: str) -> bool:
    try:
        Address.read(name)
    except ValueError:
        return False
    return True


_KINDS: Final = {
    "sentence-transformers": _Kind("sentence-transformers:NAME_OR_FOLDER", _model, bool),
    "hash": _Kind("hash or hash:DIMENSION", _hash, _is_size),
    "openai": _Kind(FORM, _served, _is_address),
}


def check(choice: str) -> None:
    """Check the form of what ``ANABRANCH_EMBEDDER`` names; whether it is there is seen when it is made.

    Raises:
        ValueError: saying which forms there are.
    """
    word, colon, name = choice.partition(":")
    kind = _KINDS.get(word)
    if kind is None or not (kind.takes(name) if colon else word in kind.form.split(" or ")):
        msg = f"write {' or '.join(kind.form for kind in _KINDS.values())}"
        raise ValueError(msg)


def make_embedder(choice: str, *, threads: int | None = None, key: SecretStr | None = None) -> Made:
    """Build what ``ANABRANCH_EMBEDDER`` names; ``key`` is that of a server.

    Raises:
        UsageError: if the form is another.
        ModelMissing: if the model is not here and cannot be fetched.
    """
    try:
        check(choice)
    except ValueError as error:
        msg = f"no embedder is called {choice!r}: for ANABRANCH_EMBEDDER {error}"
        raise UsageError(msg) from None
    word, _, name = choice.partition(":")
    return _KINDS[word].make(name, _With(threads, key))
