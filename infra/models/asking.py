"""What goes out to a language model: messages, schema and sampling of a request, and the key that they have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from math import ceil
from typing import Any, Final

from schemas.base import Model
from stages.ports import Request

_SEED: Final = 7
"""Any would do; with temperature 0 and the same one, endpoints that can answer the same again do."""

_FAULT: Final = 500
"""Bytes of what was wrong with an answer that the model is shown."""

_AGAIN: Final = "An answer to this was of no use: {fault}. Answer again, by the schema and by nothing else."

_OVERHEAD: Final = 16
"""Tokens that a chat template puts around a message."""

_SCHEMAS: Final[dict[type[Model], Mapping[str, Any]]] = {}
"""Of each kind of answer, of which there are a handful: pydantic takes a millisecond to make one."""

_WORDS: Final = frozenset({"title", "description", "default", "properties"})
"""Keywords that are left out of a schema, or written apart."""

_SPARSE: Final = frozenset(b" abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


@dataclass(frozen=True, slots=True)
class Asking:
    """A request as it goes out: the longest stable part first.

    ``system`` is the prompt and the frame, the same for many requests of a space; ``user`` is the data and, where it is
    asked once more, what was wrong with the first answer.
    """

    name: str
    version: int
    system: str
    user: str
    schema: Mapping[str, Any]
    longest: int

    def body(self, model: str) -> dict[str, Any]:
        """Return the body of a chat completion."""
        form = {"name": self.name.replace(".", "_"), "schema": self.schema, "strict": True}
        return {
            "model": model,
            "messages": [{"role": "system", "content": self.system}, {"role": "user", "content": self.user}],
            "response_format": {"type": "json_schema", "json_schema": form},
            "temperature": 0,
            "seed": _SEED,
            "max_tokens": self.longest,
        }

    def key(self, model: str) -> str:
        """Return what the answer is kept by: a hash of model, sampling, prompt, schema and the exact messages."""
        named = [self.name, self.version, self.body(model)]
        return sha256(json.dumps(named, sort_keys=True, separators=(",", ":")).encode()).hexdigest()

    @property
    def tokens(self) -> int:
        """About the most tokens that prompt and answer together take."""
        schema = json.dumps(self.schema, separators=(",", ":"))  # some endpoints put it into the prompt
        return sum(estimated(text) + _OVERHEAD for text in (self.system, self.user, schema)) + self.longest


def asking_of(request: Request[Any], fault: str | None = None) -> Asking:
    """Return a request as it goes out; with ``fault`` as it is asked once more, which has a key of its own."""
    prompt = request.prompt
    system = f"{prompt.text}\n\n{request.frame}" if request.frame else prompt.text
    user = request.data if fault is None else f"{request.data}\n\n{_AGAIN.format(fault=_short(fault))}"
    return Asking(prompt.name, prompt.version, system, user, strict_schema(prompt.answer), prompt.longest)


def _short(fault: str) -> str:
    return fault.encode()[:_FAULT].decode(errors="ignore").strip().rstrip(".")


def estimated(text: str) -> int:
    """Return about the most tokens that a text takes, whoever's they are.

    English has a token for four letters, and tokenizers that know little of a language one for two or three of its
    bytes; each digit and sign may be one. Where it is more after all the endpoint refuses, and that is an answer.
    """
    data = text.encode("utf-8", "surrogatepass")
    sparse = sum(byte in _SPARSE for byte in data)
    wide = sum(byte > 0x7F for byte in data)  # noqa: PLR2004 - beyond ASCII
    return ceil(sparse / 3) + ceil(wide / 2) + len(data) - sparse - wide


def strict_schema(answer: type[Model]) -> Mapping[str, Any]:
    """Return the JSON Schema of an answer as strict endpoints want it: every field required, none besides.

    Without our docstrings: answers are kept by it, and a comment that is mended must not ask everything anew.
    """
    schema = _SCHEMAS.get(answer)
    if schema is None:
        schema = _SCHEMAS[answer] = _strict(answer.model_json_schema())
    return schema


def _strict(schema: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(schema, list):
        return [_strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {name: _strict(one) for name, one in schema.items() if name not in _WORDS}
    if "$defs" in plain:  # names of definitions may be any word
        plain["$defs"] = {name: _strict(one) for name, one in schema["$defs"].items()}
    if "properties" in schema:
        plain["properties"] = {name: _strict(one) for name, one in schema["properties"].items()}
        plain |= {"required": list(schema["properties"]), "additionalProperties": False}
    return plain
