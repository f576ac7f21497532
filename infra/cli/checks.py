"""What ``doctor`` looks at. A check changes nothing and says what to do."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from time import perf_counter  # noqa: TID251 - the disk's speed is what is measured
from typing import Final

from infra.embedders import make_embedder
from infra.home import LOG, OTHER_MODEL, owner, read_only
from infra.reindex.pointer import current_folder, load
from infra.rerankers import make_reranker
from infra.settings import Settings, config_file, unknown_variables
from streams.tables import OTHER_VERSION, VERSION

_PYTHON: Final = (3, 11)
_SQLITE: Final = (3, 35, 0)
"""The first with RETURNING and with the plans that the journal's queries were measured on."""
_FREE: Final = 1 << 30
_UNSTEADY: Final = (
    "a served model's vectors may differ in their last bits from one call to another: a replay embeds texts anew, so "
    "its memory may differ from the first; a model in process, or one of `anabranch models serve`, gives the same bits"
)
_SYNC_MS: Final = 100
"""A disk slower than this to sync makes ingest wait for it rather than for the encoder."""


class Verdict(StrEnum):
    """How a check ended."""

    FINE = "ok"
    ODD = "odd"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, what was found, and what to do about it."""

    name: str
    verdict: Verdict
    found: str
    advice: str | None = None


def local(settings: Settings) -> Iterator[Check]:
    """Check all that needs no model."""
    yield _versions()
    yield from _settings(settings)
    yield _home(settings.home)
    yield _disk(settings.home)


async def encoder(settings: Settings) -> Check:
    """Load the encoder, embed a word, and compare with what the home was built with."""
    try:
        chosen = make_embedder(settings.embedder, threads=settings.threads, key=settings.embedder_key)
        vector = await chosen.embed_query("ping")
    except Exception as error:  # noqa: BLE001 - whatever keeps it from working is what is asked for
        return Check("encoder", Verdict.WRONG, f"{settings.embedder}: {error}", "set ANABRANCH_EMBEDDER, or see above")
    found = f"{chosen.model}, {len(vector)} dimensions"
    pinned = _read_model(settings.home) if settings.kafka is None else None
    if len(vector) != chosen.dimension:
        return Check("encoder", Verdict.WRONG, f"{found}, where it says {chosen.dimension}", "use another model")
    if pinned is not None and pinned != chosen.model:
        return Check("encoder", Verdict.WRONG, f"{found}, but the home was built with {pinned}", OTHER_MODEL)
    return Check("encoder", Verdict.FINE, found, _UNSTEADY if settings.embedder.startswith("openai:") else None)


async def reranker(settings: Settings) -> Check:
    """Load the reranker, or ask the server that has it, and let it judge a pair."""
    made = None
    try:
        made = make_reranker(settings)
        if made is None:
            return Check("reranker", Verdict.FINE, "none")
        await made.inner.score("ping", ["pong"])
    except Exception as error:  # noqa: BLE001 - as for the encoder
        advice = "recall goes on without it; set ANABRANCH_RERANKER, or see above"
        return Check("reranker", Verdict.ODD, f"{settings.reranker}: {error}", advice)
    finally:
        if made is not None:
            made.close()
    return Check("reranker", Verdict.FINE, made.model)


def _versions() -> Check:
    found = f"Python {sys.version.split()[0]}, SQLite {sqlite3.sqlite_version}"
    if sys.version_info < _PYTHON or sqlite3.sqlite_version_info < _SQLITE:
        return Check("versions", Verdict.WRONG, found, "Python 3.11 and SQLite 3.35 or newer are needed")
    return Check("versions", Verdict.FINE, found)


def _settings(settings: Settings) -> Iterator[Check]:
    file = config_file()
    yield Check("settings", Verdict.FINE, f"embedder {settings.embedder}; file {file or 'none'}")
    for name in unknown_variables():
        yield Check("settings", Verdict.ODD, f"{name} sets nothing", "correct its name, or unset it")


def _home(home: Path) -> Check:
    if not home.exists():
        return Check("home", Verdict.FINE, f"{home} is not there yet; the first ingest makes it")
    if not home.is_dir() or not os.access(home, os.R_OK | os.W_OK | os.X_OK):
        return Check(
            "home", Verdict.WRONG, f"{home} is no folder that can be written", "name another by ANABRANCH_HOME"
        )
    if (holder := owner(home)) is not None:
        advice = "until that process ends, other commands on this home are refused"
        return Check("home", Verdict.ODD, f"{home} is in use by process {holder}", advice)
    if (version := pinned(home, "version")) not in {None, str(VERSION)}:
        return Check("home", Verdict.WRONG, f"{home} has version {version!r}, not {VERSION}", OTHER_VERSION)
    return Check("home", Verdict.FINE, str(home))


def _disk(home: Path) -> Check:
    """Write and sync a page beside or in the home."""
    folder = next(parent for parent in (home, *home.parents) if parent.is_dir())
    try:
        took = _sync_ms(folder)
    except OSError as error:
        return Check(
            "disk", Verdict.WRONG, f"{folder} can't be written: {error}", "name another folder by ANABRANCH_HOME"
        )
    free = shutil.disk_usage(folder).free
    found = f"{free / (1 << 30):.1f} GB free, {took:.1f} ms to sync"
    if free < _FREE:
        return Check("disk", Verdict.ODD, found, "make room: below 1 GB the log may stop soon")
    if took > _SYNC_MS:
        return Check("disk", Verdict.ODD, found, "a home on a local disk is quicker")
    return Check("disk", Verdict.FINE, found)


def _sync_ms(folder: Path) -> float:
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(bytes(4096))
        began = perf_counter()
        file.flush()
        os.fsync(file.fileno())
        return 1000 * (perf_counter() - began)


def _read_model(home: Path) -> str | None:
    """Return the model whose vectors a home's recall reads."""
    entry = load(home).vectors
    return entry.model if entry is not None else pinned(current_folder(home), "model")


def pinned(home: Path, name: str) -> str | None:
    """Return what the home's journal says of itself, read without taking the home."""
    log = home / LOG
    if not log.is_file():
        return None
    try:
        with read_only(log) as database:
            found = database.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    except sqlite3.Error:
        return None
    return None if found is None else str(found[0])
