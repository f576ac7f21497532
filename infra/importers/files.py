"""The files of a path: one file, or those of a folder that fit; gzip is read through."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, cast

from infra.errors import UsageError

_GZIP: Final = b"\x1f\x8b"


def files(path: Path, *suffixes: str) -> list[Path]:
    """Return ``path`` itself, or the files under it whose names end in one of ``suffixes`` (``.gz`` behind it or not).

    Raises:
        UsageError: if there is none.
    """
    if path.is_file():
        return [path]
    if not path.is_dir():
        msg = f"{path} is neither a file nor a folder"
        raise UsageError(msg)
    found = sorted(p for p in path.rglob("*") if p.is_file() and _fits(p.relative_to(path), suffixes))
    if not found:
        msg = f"{path} holds no file that ends in {' or '.join(suffixes)}"
        raise UsageError(msg)
    return found


def _fits(path: Path, suffixes: tuple[str, ...]) -> bool:
    hidden = any(part.startswith(".") for part in path.parts)
    return not hidden and path.name.removesuffix(".gz").endswith(suffixes)


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes, unpacked if it is gzip whatever its name.

    Raises:
        UsageError: if it can't be read.
    """
    try:
        with path.open("rb") as probe:
            packed = probe.read(2) == _GZIP
        with path.open("rb") as raw:
            yield cast("IO[bytes]", gzip.GzipFile(fileobj=raw)) if packed else raw
    except (OSError, EOFError, zlib.error) as error:
        msg = f"{path} can't be read: {error}"
        raise UsageError(msg) from error


def document(path: Path) -> Any:  # noqa: ANN401 - a foreign file: its importer checks the shape
    """Return the JSON document of a file.

    Raises:
        UsageError: if it is not JSON.
    """
    with opened(path) as file:
        try:
            return json.loads(file.read())
        except (ValueError, RecursionError) as error:
            msg = f"{path} is not a JSON document: {error}"
            raise UsageError(msg) from None
