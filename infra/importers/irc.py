"""Channel logs as in the Ubuntu IRC disentanglement set (Kummerfeld et al. 2019): ``NAME.ascii.txt``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from infra.errors import UsageError
from infra.importers.files import files, opened
from infra.importers.turns import Imported, encode, own_space, stamp
from schemas.space import Space

_SUFFIX: Final = ".ascii.txt"
_DATE: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_TIMED: Final = re.compile(r"\[(\d{1,2}):(\d{2})(?::\d{2})?\]\s*(.*)", re.DOTALL)
_SAID: Final = re.compile(r"<\s*([^>]+)>\s?(.*)", re.DOTALL)
_ACTED: Final = re.compile(r"\*\s+(\S+.*)", re.DOTALL)
_CHANNEL: Final = {"id": "===", "name": "channel", "role": "system"}
"""Who says that someone joined: an id that no nickname can be."""
_ROLLOVER: Final = timedelta(hours=12)


def read_irc(path: Path) -> Iterator[Imported]:
    """Give every line of every log as a turn.

    Raises:
        UsageError: if a file's name holds no date.
    """
    for file in files(path, _SUFFIX):
        name = file.name.removesuffix(".gz").removesuffix(_SUFFIX)
        found = _DATE.search(name)
        if not found:
            msg = f"{file}: the day is taken from the name, as in 2004-11-15_03{_SUFFIX}, and this one has none"
            raise UsageError(msg)
        day = datetime(*map(int, found.groups()), tzinfo=UTC)  # type: ignore[arg-type,misc]  # three numbers by the pattern
        with opened(file) as raw:
            lines = raw.read().decode("utf-8", "replace").split("\n")
        yield from _log(own_space("irc", name, file), day, lines[:-1] if lines[-1] == "" else lines, file)


def _log(space: Space, day: datetime, lines: Sequence[str], file: Path) -> Iterator[Imported]:
    at = next((_clock(day, found) for line in lines if (found := _TIMED.fullmatch(line))), day)
    for number, line in enumerate(lines):
        found = _TIMED.fullmatch(line)
        at = _later(at, _clock(at, found)) if found else at
        speaker, text = _parts(found[3] if found else line)
        turn = {"space": space, "turn_id": str(number), "speaker": speaker, "text": text, "at": stamp(at)}
        yield Imported(space, encode(turn), f"{file}:{number}")


def _clock(day: datetime, found: re.Match[str]) -> datetime:
    return day.replace(hour=int(found[1]) % 24, minute=int(found[2]) % 60)


def _later(last: datetime, now: datetime) -> datetime:
    """Return ``now`` on the next day where time seems to run back by over 12 hours; small steps back are jitter."""
    return now + timedelta(days=1) if last - now > _ROLLOVER else now


def _parts(line: str) -> tuple[dict[str, Any], str]:
    """Return who speaks and what: a message, an action (``* nick waves``), or a line of the channel itself."""
    line = line.rstrip("\r")
    if said := _SAID.fullmatch(line):
        return {"id": said[1].strip(), "role": "user"}, said[2]
    if acted := _ACTED.fullmatch(line):
        return {"id": acted[1].split()[0], "role": "user"}, acted[1]
    return _CHANNEL, line.removeprefix("===").strip()
