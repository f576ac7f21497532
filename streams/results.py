"""Where answers of models are kept, and the file of a home that does so."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol

from schemas.model_result import ModelResult
from schemas.space import Space
from stages.contract import Unavailable
from streams.codec import Codec, Malformed, codec
from streams.stopped import WrongHome
from streams.tables import OTHER_VERSION

RESULT: Final[Codec[ModelResult]] = codec(ModelResult)

_VERSION: Final = 1
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS results (
    space TEXT NOT NULL, key TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (space, key));
"""


class Results(Protocol):
    """Keeps answers by space and the hash of their request. The first of a key stands, whoever asked."""

    async def get(self, space: Space, key: str) -> ModelResult | None:
        """Return what is kept of a request.

        Raises:
            Unavailable: if what keeps it does not answer, or this version cannot read it.
        """
        ...

    async def keep(self, space: Space, key: str, result: ModelResult) -> ModelResult:
        """Keep an answer and return the one that stands; it is safe when this returns.

        Raises:
            Unavailable: if it may not be kept.
        """
        ...


def read_result(space: str, body: bytes) -> ModelResult:
    """Read a kept answer.

    Raises:
        Unavailable: if it is another version's: to ask again would make another memory of the same log.
    """
    try:
        return RESULT.decode(body)
    except Malformed as error:
        msg = f"a kept answer of {space} cannot be read by this version ({error}): run the version that wrote it"
        raise Unavailable(msg) from error


class FileResults:
    """Implements ``Results`` on a file of its own, which all generations of a home share.

    An answer costs far more than a sync, so each is on the disk before it is used.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db = sqlite3.connect(path, isolation_level=None)
        self._must_be_ours()
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.executescript(_SCHEMA)
        self._db.execute(f"PRAGMA user_version={_VERSION}")

    def _must_be_ours(self) -> None:
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if version not in {0, _VERSION}:
            self._db.close()
            msg = f"{self.path} has version {version}, not {_VERSION}; {OTHER_VERSION}"
            raise WrongHome(msg)

    async def get(self, space: Space, key: str) -> ModelResult | None:
        """Return what is kept of a request."""
        with self._answering():
            found = self._db.execute("SELECT body FROM results WHERE space = ? AND key = ?", (space, key)).fetchone()
        return None if found is None else read_result(space, found[0])

    async def keep(self, space: Space, key: str, result: ModelResult) -> ModelResult:
        """Keep an answer and return the one that stands."""
        with self._answering():
            self._db.execute("INSERT OR IGNORE INTO results VALUES (?, ?, ?)", (space, key, RESULT.encode(result)))
        return await self.get(space, key) or result

    @contextmanager
    def _answering(self) -> Iterator[None]:
        """Let a stage wait where the disk is at fault: to it anything else would be a bug of its own."""
        try:
            yield
        except sqlite3.OperationalError as error:
            msg = f"{self.path} cannot be read or written ({error}); see to its disk and its permissions"
            raise Unavailable(msg) from error
        except sqlite3.Error as error:  # nothing is asked anew for it unless a person says so
            msg = (
                f"{self.path}, which keeps models' answers, is damaged ({error}); stop this and restore it from a "
                "backup, or move it away: then what is derived anew is asked about again"
            )
            raise Unavailable(msg) from error

    def close(self) -> None:
        """Close the file."""
        self._db.close()
