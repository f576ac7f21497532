"""API keys: each belongs to one tenant, and only its hash is kept.

A key holds 256 random bits, so its SHA-256 is as hard to turn back as a slow hash of a password, and quick to check.
"""

from __future__ import annotations

import hmac
import os
import secrets  # noqa: TID251 - a key is a secret
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Final

from infra.errors import HomeUnusable, UsageError
from schemas.space import Space

_TABLE: Final = """
CREATE TABLE IF NOT EXISTS keys (
    key_id TEXT PRIMARY KEY, tenant TEXT NOT NULL, hash BLOB NOT NULL, note TEXT NOT NULL,
    created TEXT NOT NULL, revoked TEXT) WITHOUT ROWID;
"""
_MARK: Final = "ab"
"""What keys begin with, so that whoever scans logs and code for secrets knows them."""

_NOBODY: Final = bytes(32)
"""Compared with where there is no such key: no key has this hash."""

_LONGEST: Final = 200


@dataclass(frozen=True, slots=True)
class Key:
    """What is known of a key, its secret excepted. Times are ISO 8601 in UTC."""

    key_id: str
    tenant: str
    note: str
    created: str
    revoked: str | None


@dataclass(frozen=True, slots=True)
class KeyFile:
    """The file of keys, an SQLite database without a log of its own: it may be copied and mounted read-only."""

    path: Path

    def create(self, tenant: str, note: str = "") -> tuple[Key, str]:
        """Make a key for a tenant; return it with its text, which is kept nowhere.

        Raises:
            UsageError: if no tenant can have that name.
            HomeUnusable: if the file cannot be written.
        """
        try:
            Space(f"{tenant}/x")
        except ValueError:
            msg = f"no tenant is called {tenant!r}: write 1 to 200 letters, digits or ._@:+=~-, a letter or digit first"
            raise UsageError(msg) from None
        told = note.encode("utf-8", "replace").decode()  # a terminal may give lone surrogates, and no file takes them
        key = Key(secrets.token_hex(6), tenant, told, _now(), None)
        text = f"{_MARK}_{key.key_id}_{secrets.token_urlsafe(32)}"
        with self._open() as file:
            file.execute(
                "INSERT INTO keys VALUES (?, ?, ?, ?, ?, NULL)", (key.key_id, tenant, _hash(text), told, key.created)
            )
        return key, text

    def every(self) -> list[Key]:
        """Return all keys, revoked ones too, oldest first."""
        if not self.path.exists():
            return []
        try:
            with closing(_to_read(self.path)) as file:
                rows = file.execute("SELECT key_id, tenant, note, created, revoked FROM keys ORDER BY created, key_id")
                return [Key(*row) for row in rows]
        except sqlite3.Error as error:
            msg = f"the file of keys {self.path} cannot be read ({error}); see ANABRANCH_KEYS"
            raise HomeUnusable(msg) from error

    def revoke(self, key_id: str) -> Key:
        """Revoke a key for good; one that is revoked stays so.

        Raises:
            UsageError: if there is no such key.
        """
        known = {key.key_id: key for key in self.every()}
        if key_id not in known:
            msg = f"there is no key {key_id!r} in {self.path}; `anabranch keys list` shows all"
            raise UsageError(msg)
        with self._open() as file:
            file.execute("UPDATE keys SET revoked = ? WHERE key_id = ? AND revoked IS NULL", (_now(), key_id))
        return next(key for key in self.every() if key.key_id == key_id)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            with closing(sqlite3.connect(self.path, isolation_level=None)) as file:
                file.execute("PRAGMA synchronous=FULL")
                file.execute(_TABLE)
                yield file
        except (OSError, sqlite3.Error) as error:
            msg = f"the file of keys {self.path} cannot be read or written ({error}); see ANABRANCH_KEYS"
            raise HomeUnusable(msg) from error


class KeyBook:
    """Checks keys against the file as it is at that moment, so that a revocation holds from the next request on.

    A check takes some 20 µs. A file that is replaced as a whole (as Kubernetes does with mounted ones) is seen too.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: sqlite3.Connection | None = None
        self._which: tuple[int, int] | None = None

    def check(self, text: str) -> Key | None:
        """Return the key of this text if it is there and not revoked. How long it takes tells nothing of its secret.

        Raises:
            HomeUnusable: if the file is there and cannot be read.
        """
        row = self._row(text.split("_")[1]) if text.count("_") > 1 and len(text) <= _LONGEST else None
        fits = hmac.compare_digest(_hash(text), _NOBODY if row is None else row[1])
        return row[0] if row is not None and fits and row[0].revoked is None else None

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _row(self, key_id: str) -> tuple[Key, bytes] | None:
        file = self._current()
        if file is None:
            return None
        try:
            row = file.execute(
                "SELECT key_id, tenant, note, created, revoked, hash FROM keys WHERE key_id = ?", (key_id,)
            ).fetchone()
        except sqlite3.Error as error:
            self.close()
            msg = f"the file of keys {self._path} cannot be read ({error})"
            raise HomeUnusable(msg) from error
        return None if row is None else (Key(*row[:5]), row[5])

    def _current(self) -> sqlite3.Connection | None:
        try:
            found = self._path.stat()
        except FileNotFoundError:
            self.close()
            return None
        except OSError as error:
            msg = f"the file of keys {self._path} cannot be read ({error})"
            raise HomeUnusable(msg) from error
        which = (found.st_dev, found.st_ino)
        if self._file is None or which != self._which:
            self.close()
            self._file = _to_read(self._path)
            self._which = which
        return self._file


def _to_read(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=1.0)


def _hash(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")  # noqa: TID251 - when a key was made is the clock's
