"""Questions and inputs, from an option or from a file of JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from infra.errors import UsageError
from infra.importers.files import opened
from schemas.base import Model
from schemas.recall import ContextInput, Question

Asked = TypeVar("Asked", bound=Model)


@dataclass(frozen=True, slots=True)
class Given(Generic[Asked]):
    """What is asked, and its id as the file wrote it (a number stays a number)."""

    asked: Asked
    id: Any = None
    from_file: bool = False


def questions_of(text: str | None, file: Path | None, defaults: Mapping[str, Any]) -> Iterator[Given[Question]]:
    """Give the questions; ``defaults`` hold where a line says nothing.

    Raises:
        UsageError: if not exactly one of ``text`` and ``file`` is given, or a line is wrong (named by its number).
    """
    _one_of("--question", text, "--questions", file)
    if text is not None:
        yield Given(_checked(Question, {"question": text, **defaults}, "--question"))
    elif file is not None:
        yield from _lines(Question, file, {"id", "question", "asker", "asked_at", "for_turn"}, defaults)


def inputs_of(text: str | None, file: Path | None, defaults: Mapping[str, Any]) -> Iterator[Given[ContextInput]]:
    """Give the turns for which a bundle is asked, likewise.

    Raises:
        UsageError: as for questions.
    """
    _one_of("--text", text, "--inputs", file)
    if text is not None:
        yield Given(_checked(ContextInput, {"text": text, **defaults}, "--text"))
    elif file is not None:
        yield from _lines(ContextInput, file, {"id", "text", "speaker", "at"}, defaults)


def _one_of(first: str, text: str | None, second: str, file: Path | None) -> None:
    if (text is None) == (file is None):
        msg = f"give either {first} or {second}"
        raise UsageError(msg)


def _lines(kind: type[Asked], file: Path, known: set[str], defaults: Mapping[str, Any]) -> Iterator[Given[Asked]]:
    """Give the lines of a file. Fields that we don't know (answers, evidence) may stand there and are not read."""
    if not file.is_file():
        msg = f"{file} is not a file"
        raise UsageError(msg)
    with opened(file) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                where = f"{file}:{number}"
                value = _object(line, where)
                fields = {name: value[name] for name in known & value.keys() if value[name] is not None}
                asked_id = fields.pop("id", None)
                fields |= {"id": str(asked_id)} if asked_id is not None else {}
                yield Given(_checked(kind, {**defaults, **fields}, where), asked_id, from_file=True)


def _object(line: bytes, where: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        msg = f"{where}: not JSON: {error}"
        raise UsageError(msg) from None
    if not isinstance(value, dict):
        msg = f"{where}: not a JSON object"
        raise UsageError(msg)
    return value


def _checked(kind: type[Asked], fields: Mapping[str, Any], where: str) -> Asked:
    try:
        spelled = json.dumps(fields, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        msg = f"{where}: holds a lone surrogate, or bytes that are not UTF-8; write it in UTF-8"
        raise UsageError(msg) from None
    try:
        return kind.model_validate_json(spelled)
    except ValidationError as error:
        first = error.errors()[0]
        msg = f"{where}: {'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise UsageError(msg) from None
