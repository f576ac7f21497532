"""An OpenAI-compatible endpoint as settings name it: ``openai:URL#MODEL``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

FORM: Final = "openai:URL#MODEL, such as openai:http://127.0.0.1:8000/v1#Qwen/Qwen2.5-7B-Instruct"
_PREFIX: Final = "openai:"
_PATHS: Final = ("/chat/completions", "/embeddings", "/rerank")
"""Ends of the addresses that clients put behind the URL themselves; who copies a whole one means what is before."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """``url`` is what stands before ``/chat/completions`` and the like; ``model`` is what the endpoint calls it."""

    url: str
    model: str


def endpoint_of(choice: str) -> Endpoint:
    """Read a setting.

    Raises:
        ValueError: saying how it is written.
    """
    address, hash_sign, model = choice.removeprefix(_PREFIX).partition("#")
    if not choice.startswith(_PREFIX) or not hash_sign or not model.strip() or not _is_http(address):
        msg = f"write {FORM}"
        raise ValueError(msg)
    url = address.rstrip("/")
    for path in _PATHS:
        url = url.removesuffix(path)
    return Endpoint(url.rstrip("/"), model.strip())


def _is_http(address: str) -> bool:
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and not parts.query and parts.username is None
