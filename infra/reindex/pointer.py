"""What of a home is read, what is being built, and what there is to go back to: one small file, replaced whole.

Without the file a home has its first generation alone, in ``log.sqlite`` and ``index``.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from infra.errors import HomeUnusable
from streams.codec import Codec, Malformed, codec
from streams.kafka.names import FIRST_GENERATION

FILE: Final = "reindex.json"

Kind: TypeAlias = Literal["vectors", "derive"]


class Entry(BaseModel):
    """What a reindex made: a folder of the home.

    ``vectors``: another index over the memory of ``generation``. ``derive``: the generation itself, with its journal;
    ``end`` is the offset of the newest event of the log when it began. ``embedder`` is the setting, ``model`` what that
    was then.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    folder: str
    generation: int
    embedder: str
    model: str
    dimension: int
    end: int = 0

    def __str__(self) -> str:
        """Describe it for a message."""
        return f"{self.kind} in {self.folder} (model {self.model}, dimension {self.dimension})"


class Pointer(BaseModel):
    """``None`` of ``reading`` and ``former`` is the home as it was before any reindex.

    ``former`` counts only where ``returns`` says so. ``made`` are all whose folders are there.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    reading: Entry | None = None
    former: Entry | None = None
    returns: bool = False
    next: Entry | None = None
    made: tuple[Entry, ...] = ()

    @property
    def generation(self) -> int:
        """The generation whose stages decide now."""
        return FIRST_GENERATION if self.reading is None else self.reading.generation

    @property
    def vectors(self) -> Entry | None:
        """The index that is read, if that is another one than commit writes."""
        return self.reading if self.reading is not None and self.reading.kind == "vectors" else None

    @property
    def unneeded(self) -> list[Entry]:
        """What was made and is neither read, nor gone back to, nor next, nor what one of these rests on."""
        named = [one for one in (self.reading, self.former, self.next) if one is not None]
        bases = {one.generation for one in named}
        return [one for one in self.made if one not in named and (one.kind == "vectors" or one.generation not in bases)]

    def begun(self, entry: Entry) -> Pointer:
        """Return it with ``entry`` being built."""
        return self.model_copy(update={"next": entry, "made": (*self.made, entry)})

    def switched(self) -> Pointer:
        """Return it with the next one read, and the one before kept."""
        return self.model_copy(update={"reading": self.next, "former": self.reading, "returns": True, "next": None})

    def returned(self) -> Pointer:
        """Return it with the former one read again, and the one that was read next in line."""
        return self.model_copy(update={"reading": self.former, "former": None, "returns": False, "next": self.reading})


_CODEC: Codec[Pointer] = codec(Pointer)


def load(home: Path) -> Pointer:
    """Read a home's pointer.

    Raises:
        HomeUnusable: if the file is no pointer.
    """
    path = home / FILE
    if not path.is_file():
        return Pointer()
    try:
        return _CODEC.decode(path.read_bytes())
    except Malformed as error:
        msg = f"{path} cannot be read ({error}); restore it from a backup, or start the version that wrote it"
        raise HomeUnusable(msg) from error


def store(home: Path, pointer: Pointer) -> None:
    """Replace a home's pointer: after a crash it is the old or the new one. A plain home has none."""
    path = home / FILE
    if pointer == Pointer():
        path.unlink(missing_ok=True)
    else:
        draft = path.with_suffix(".draft")
        with draft.open("wb") as file:
            file.write(_CODEC.encode(pointer))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    _sync(home)


def tidy(home: Path) -> Pointer:
    """Remove what is not needed any more, also what a killed ``abandon`` left, and return the home's pointer."""
    pointer = load(home)
    for entry in pointer.unneeded:
        shutil.rmtree(home / entry.folder, ignore_errors=True)
        pointer = pointer.model_copy(update={"made": tuple(one for one in pointer.made if one != entry)})
        store(home, pointer)
    return pointer


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def generation_folder(home: Path, generation: int) -> Path:
    """Return the folder of a generation's journal and index: the first one's is the home."""
    return home if generation == FIRST_GENERATION else home / f"g{generation}"


def current_folder(home: Path) -> Path:
    """Return the folder of the generation that a home lives in now."""
    return generation_folder(home, load(home).generation)
