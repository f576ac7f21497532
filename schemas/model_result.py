"""What a model answered, kept before it is used: a replay and a redelivery make no second call."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from schemas.base import SCHEMA_VERSION, Model


class ModelResult(Model):
    """An answer as it came, of use or not. Of several for one request the first stands.

    ``prompt`` is the name of the prompt, "stage.purpose". ``status`` is that of HTTP: from 400 on the endpoint refused
    the request itself, and ``text`` says why. ``finish`` says why the model ended ("length": it was cut off). Tokens
    are as the endpoint counted them (0: it did not say); the ``cached`` ones are among those of the prompt.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    model: str
    prompt: str
    prompt_version: int
    status: int = 200
    text: str
    finish: str | None = None
    prompt_tokens: int = Field(default=0, ge=0)
    cached_tokens: int = Field(default=0, ge=0)
    answer_tokens: int = Field(default=0, ge=0)
