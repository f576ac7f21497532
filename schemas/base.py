"""The base of every schema: frozen, strict, closed to unknown fields."""

from __future__ import annotations

from typing import ClassVar, Final

from pydantic import BaseModel, ConfigDict

SCHEMA_VERSION: Final = 1


class Model(BaseModel):
    """A value that travels: immutable, strictly typed, unknown fields refused by name.

    ``bytes`` fields are base64 in JSON, so that int8 vectors travel in a text format.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True,
        strict=True,
        extra="forbid",
        ser_json_bytes="base64",
        val_json_bytes="base64",
    )


def absent(value: object) -> bool:
    """Tell whether an optional field says nothing: it is left out, so that what has none is written as it ever was."""
    return not value
