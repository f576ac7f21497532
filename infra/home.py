"""The folder of the embedded mode, owned by one process at a time."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from infra.errors import HomeBusy, HomeUnusable
from streams.stopped import WrongHome

LOG = "log.sqlite"
"""Name of the journal in a home."""

INDEX = "index"
"""Name of the index's folder in a home."""

OTHER_MODEL = "set ANABRANCH_EMBEDDER to the former one, or name another ANABRANCH_HOME for this one"
"""The way out where a home was built with another model."""

_LOCK = "lock"


@contextmanager
def owned(home: Path) -> Iterator[Path]:
    """Own ``home`` (made if it is not there) until the block ends; the system lets go of it if the process dies.

    Raises:
        HomeBusy: if another process owns it; the message names that process.
        HomeUnusable: if the folder cannot be made or written.
    """
    try:
        home.mkdir(parents=True, exist_ok=True)
        lock = os.open(home / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        msg = f"{home} cannot be written ({error.strerror}); name another folder by ANABRANCH_HOME"
        raise HomeUnusable(msg) from error
    try:
        _take(lock, home)
        yield home
    finally:
        os.close(lock)


def _take(lock: int, home: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        owner = os.pread(lock, 64, 0).decode("ascii", "ignore").strip() or "unknown"
        msg = (
            f"{home} is in use by process {owner}: one process owns a home at a time. Wait for it or stop it, or name "
            f"another folder by ANABRANCH_HOME"
        )
        raise HomeBusy(msg) from error
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)


@contextmanager
def usable(home: Path) -> Iterator[None]:
    """Turn faults of a home's log into what a person can do about them; those of our own making stay as they are.

    Raises:
        HomeUnusable: if the log is another version's, is damaged, or cannot be read or written.
    """
    log = home / LOG
    try:
        yield
    except WrongHome as error:
        raise HomeUnusable(str(error)) from error
    except sqlite3.OperationalError as error:  # read-only, full, gone, locked
        way_out = "see to its disk and its permissions, then run again: nothing is lost"
        msg = f"{log} cannot be read or written ({error}); {way_out}"
        raise HomeUnusable(msg) from error
    except sqlite3.DatabaseError as error:
        if type(error) is not sqlite3.DatabaseError:
            raise  # a constraint or a call that is wrong: a bug
        msg = f"{log} is damaged ({error}); restore it from a backup, or name another ANABRANCH_HOME"
        raise HomeUnusable(msg) from error


@contextmanager
def read_only(file: Path) -> Iterator[sqlite3.Connection]:
    """Give an SQLite file of a home to look at, without taking the home; nothing in it can be changed."""
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as database:
        yield database


def owner(home: Path) -> str | None:
    """Return the id of the process that owns ``home`` now, or ``None``."""
    path = home / _LOCK
    if not path.exists():
        return None
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return file.read().strip() or "unknown"
    return None
