"""Where a served model is, as settings name it: ``openai:URL#MODEL``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import urlsplit

SERVED: Final = "openai"
"""The word before the colon: what speaks OpenAI's protocol, whoever made it."""

FORM: Final = f"{SERVED}:URL#MODEL"

_PATHS: Final = ("/chat/completions", "/embeddings", "/rerank")
"""Ends of the addresses that clients put behind the URL themselves; who copies a whole one means what is before."""


@dataclass(frozen=True, slots=True)
class Address:
    """The URL up to ``/v1``, and the model's name there."""

    url: str
    model: str

    @classmethod
    def read(cls, name: str) -> Self:
        """Read ``URL#MODEL``.

        Raises:
            ValueError: if it is anything else.
        """
        url, _, model = name.partition("#")
        if not (model.strip() and _is_http(url)):
            msg = f"write {FORM}, such as {SERVED}:http://127.0.0.1:8000/v1#NAME"
            raise ValueError(msg)
        url = url.rstrip("/")
        for path in _PATHS:
            url = url.removesuffix(path)
        return cls(url.rstrip("/"), model.strip())

    @classmethod
    def of_setting(cls, choice: str) -> Self:
        """Read ``openai:URL#MODEL``.

        Raises:
            ValueError: if it is anything else.
        """
        word, _, name = choice.partition(":")
        return cls.read(name if word == SERVED else "")

    def __str__(self) -> str:
        """Return how messages call it."""
        return f"the model {self.model} at {self.url}"


def _is_http(url: str) -> bool:
    """Tell whether a URL is one that can be asked; a name or password in it would show in every message."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and not parts.query and parts.username is None
