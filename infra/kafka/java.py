"""The programs that a broker of our own needs, which are not Python's: Java and Maven."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import Final

from infra.errors import MissingError

OLDEST: Final = 17
"""What Kafka 4 is compiled for."""

WAY_OUT: Final = f"install Java {OLDEST} and Maven, or name a running broker in ANABRANCH_KAFKA"

_VERSION: Final = re.compile(r'version "(\d+)')
_PATIENCE: Final = 60.0
"""Seconds for `java -version`: a tenth of one is usual, a disk that wakes up takes some."""


def java() -> str:
    """Return the path of Java.

    Raises:
        MissingError: if there is none on the PATH, or it is older than ``OLDEST``.
    """
    path = _found("java", "Java")
    # it says its version on standard error
    try:
        said = subprocess.run([path, "-version"], capture_output=True, text=True, check=False, timeout=_PATIENCE)  # noqa: S603 - found on the PATH
    except (OSError, subprocess.TimeoutExpired) as error:
        msg = f"Java at {path} does not run ({error}), and a Kafka broker needs it: {WAY_OUT}"
        raise MissingError(msg) from error
    version = _VERSION.search(said.stderr)
    if version is None or int(version[1]) < OLDEST:
        first = said.stderr.partition("\n")[0]
        msg = f"Java at {path} says {first!r}, and a Kafka broker needs version {OLDEST} or newer: {WAY_OUT}"
        raise MissingError(msg)
    return path


def maven() -> str:
    """Return the path of Maven.

    Raises:
        MissingError: if there is none on the PATH.
    """
    return _found("mvn", "Maven")


def _found(program: str, name: str) -> str:
    path = shutil.which(program)
    if path is None:
        msg = f"{name} ({program}) is not on the PATH, and a Kafka broker of one's own needs it: {WAY_OUT}"
        raise MissingError(msg)
    return path
