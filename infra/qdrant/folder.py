"""The folder of an embedded index: one owner, and a manifest that says what it holds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from infra.errors import MissingError, UsageError
from streams.codec import Codec, Malformed, codec

LAYOUT: Final = 3
"""Rises when points are laid out in another way; another layout is another index."""

_open_folders: set[Path] = set()


class IndexMismatchError(UsageError):
    """The folder holds an index of another generation, model or dimension than the one asked for."""


class IndexInUseError(MissingError):
    """The folder is open already: a shard has one owner."""


class Manifest(BaseModel):
    """What an index holds: the generation of decisions, the encoder by name and revision, and bytes of a vector."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    layout: Literal[3] = LAYOUT
    generation: int
    model: str
    dimension: int

    def __str__(self) -> str:
        """Describe it for a message."""
        return f"generation {self.generation}, model {self.model!r}, dimension {self.dimension}"


_MANIFEST: Codec[Manifest] = codec(Manifest)


def claim(folder: Path) -> Path:
    """Note that this process has the folder open, and return its real path.

    Raises:
        IndexInUseError: if it has it open already.
        MissingError: if the folder cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"the index cannot be in {folder} ({error.strerror}): make room for that folder, or name another home"
        raise MissingError(msg) from error
    real = folder.resolve()
    if real in _open_folders:
        msg = f"the index in {real} is already open in this process (pid {os.getpid()}): close it there, or share it"
        raise IndexInUseError(msg)
    _open_folders.add(real)
    return real


def release(folder: Path) -> None:
    """Note that the folder is closed."""
    _open_folders.discard(folder)


def check(folder: Path, wanted: Manifest) -> None:
    """Compare the folder's manifest with what is wanted; a new folder gets it.

    Raises:
        IndexMismatchError: if it holds something else, or a shard that says nothing about itself.
    """
    path = folder / "manifest.json"
    if not path.exists():
        if any(folder.glob("shard/*")):
            msg = f"{folder} holds an index without a manifest.json: move it away, then build the index again"
            raise IndexMismatchError(msg)
        _store(path, wanted)
        return
    if (held := _read(path)) != wanted:
        msg = (
            f"the index in {folder} is of {held}, but the settings ask for {wanted}: set ANABRANCH_EMBEDDER back to "
            f"what the index holds, or build another one with `anabranch reindex --vectors`"
        )
        raise IndexMismatchError(msg)


def held_in(folder: Path) -> Manifest | None:
    """Return what the index in a folder holds; ``None`` if there is none."""
    path = folder / "manifest.json"
    return _read(path) if path.exists() else None


def _read(path: Path) -> Manifest:
    try:
        return _MANIFEST.decode(path.read_bytes())
    except Malformed as error:
        msg = (
            f"{path} cannot be read ({error}): another version wrote it; build the index anew "
            "with `anabranch reindex --derive`, then `anabranch reindex switch`"
        )
        raise IndexMismatchError(msg) from error


def _store(path: Path, manifest: Manifest) -> None:
    draft = path.with_suffix(".draft")
    with draft.open("wb") as file:
        file.write(_MANIFEST.encode(manifest))
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
