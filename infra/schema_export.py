"""JSON Schemas of everything that travels, for programs in other languages and for review."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from schemas.answer import Answer, Asked
from schemas.base import SCHEMA_VERSION
from schemas.committed import Committed
from schemas.control import Control
from schemas.extracted import Extracted
from schemas.header import Header, Skipped
from schemas.letter import Letter
from schemas.localized import Localized
from schemas.memory import Row
from schemas.model_result import ModelResult
from schemas.normalized import Normalized
from schemas.numbered import Numbered
from schemas.recall import Bundle, ContextInput, Question, Recalled
from schemas.routed import Routed
from schemas.turn import Turn
from schemas.view import View, ViewSet

_EXPORTED: dict[str, Any] = {
    "turn": Turn,
    "control": Control,
    "header": Header,
    "skipped": Skipped,
    "numbered": Numbered,
    "normalized": Normalized,
    "localized": Localized,
    "extracted": Extracted,
    "routed": Routed,
    "committed": Committed,
    "memory": Row,
    "letter": Letter,
    "model_result": ModelResult,
    "view": View,
    "view_set": ViewSet,
    "question": Question,
    "recalled": Recalled,
    "context_input": ContextInput,
    "bundle": Bundle,
    "asked": Asked,
    "answer": Answer,
}

READ = frozenset({"turn", "question", "context_input", "asked"})
"""What others write and we read: fields with a default may be left out."""

_VERSIONED_OUTSIDE = frozenset({"recalled", "bundle", "answer"})
"""Answers, whose printed shape is fixed without a version: the document says it, under ``x-schema-version``."""


def documents() -> dict[str, Any]:
    """Return a JSON Schema (draft 2020-12) for each exported schema, by name."""
    return {name: _document(name, schema) for name, schema in _EXPORTED.items()}


def _document(name: str, schema: Any) -> dict[str, Any]:  # noqa: ANN401 - a model or a union of models
    document = TypeAdapter(schema).json_schema(mode="validation" if name in READ else "serialization")
    return document | ({"x-schema-version": SCHEMA_VERSION} if name in _VERSIONED_OUTSIDE else {})


def export(folder: Path) -> list[Path]:
    """Write the documents as ``NAME.json`` into ``folder`` and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, document in documents().items():
        path = folder / f"{name}.json"
        path.write_text(spelled(document))
        paths.append(path)
    return paths


def spelled(document: dict[str, Any]) -> str:
    """Return a document as it is written into files."""
    return json.dumps(document, indent=1, sort_keys=True) + "\n"
