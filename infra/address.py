"""Where a served model is, as settings name it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

FORM: Final = "openai:URL#MODEL"


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
        host = url.partition("://")[2].rpartition("@")[2]
        if not url.startswith(("http://", "https://")) or host[:1] in ("", "/", ":") or not model:
            msg = f"write {FORM}, as openai:http://127.0.0.1:8000/v1#NAME"
            raise ValueError(msg)
        return cls(url.rstrip("/"), model)

    def __str__(self) -> str:
        """Return how messages call it, without what may be a password."""
        scheme, _, rest = self.url.partition("://")
        return f"the model {self.model} at {scheme}://{rest.rpartition('@')[2]}"
