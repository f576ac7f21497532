"""Kafka's jars: brought by Maven once, and kept in a cache."""

from __future__ import annotations

import logging
import re
import shutil
import subprocess
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Final

from infra.errors import MissingError
from infra.kafka.java import WAY_OUT, java, maven

POM: Final = Path(__file__).with_name("pom.xml")

_PATIENCE: Final = 1800.0
"""Seconds for Maven: 54 MB take half an hour at 30 KB a second; what is slower has stopped."""

_COLOURS: Final = re.compile("\x1b\\[[0-9;]*m")
_TOLD: Final = 5
"""Lines of Maven's complaint that are shown: the first ones name the artifact and the cause."""

_log = logging.getLogger(__name__)


def bring(cache: Path) -> Path:
    """Return the folder in ``cache`` that holds the jars named by the pom, brought first if they are not there.

    The folder appears complete or not at all, so any number of processes may bring the same one at once.

    Raises:
        MissingError: if Java or Maven is missing, Maven cannot bring the jars, or the cache cannot be written.
    """
    folder = cache / f"kafka-{sha256(POM.read_bytes()).hexdigest()[:16]}"
    if folder.is_dir():
        return folder
    java()  # a missing one is told before the download, not after
    program = maven()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=cache))
    except OSError as error:
        msg = f"Kafka's jars cannot be kept in {cache} ({error.strerror}): make room for that folder"
        raise MissingError(msg) from error
    try:
        _log.warning("bringing Kafka's jars (54 MB) to %s, once", folder)
        _run(program, draft)
        _keep(draft, folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder


def _run(program: str, draft: Path) -> None:
    goal = ["dependency:copy-dependencies", f"-DoutputDirectory={draft}"]
    command = [program, "-q", "-B", "-f", str(POM), *goal]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PATIENCE, cwd=draft)  # noqa: S603 - found on the PATH
    except (OSError, subprocess.TimeoutExpired) as error:
        msg = f"Maven at {program} did not bring Kafka's jars ({error}): {WAY_OUT}"
        raise MissingError(msg) from error
    if done.returncode != 0 or not any(draft.glob("kafka_*.jar")):
        said = _COLOURS.sub("", done.stdout + done.stderr).strip().splitlines()
        told = "\n".join(said[:_TOLD]) or "it said nothing"
        msg = f"Maven could not bring Kafka's jars (exit code {done.returncode}):\n{told}\nPut that right, or {WAY_OUT}"
        raise MissingError(msg)


def _keep(draft: Path, folder: Path) -> None:
    """Give the draft its name; if another process was faster, its folder holds the same jars."""
    draft.chmod(0o755)  # temporary folders are closed to other users
    try:
        draft.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
