"""The folder of the embedded mode, owned by one process at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.errors import HomeBusy, HomeUnusable

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
