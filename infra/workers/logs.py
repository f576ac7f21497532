"""Logs of workers, their supervisors and the gateway: one JSON object a line on standard error."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import IO, Final

_QUIET: Final = ("aiokafka", "faust", "mode", "kafka", "aiohttp.access", "asyncio")
"""Libraries that set levels of their own."""

_TALKS: Final = ("infra.workers", "infra.gateway", "infra.nights")
"""What tells of starts, requests, nights and ends too; all else tells of what goes wrong."""

_OWN: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "event"}
"""What every record has: all else was given by ``extra`` and belongs into the line, but for what libraries add to
every record under names with an underscore."""


class Lines(logging.Formatter):
    """Writes ``{"at", "level", "stage", "worker", "event", "message", …}``; ``at`` is UTC, with milliseconds."""

    def __init__(self, stage: str, worker: int | None) -> None:
        super().__init__()
        self._who = {"stage": stage, "worker": "supervisor" if worker is None else worker}

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"at": at, "level": record.levelname.lower(), **self._who}
        line |= {"event": getattr(record, "event", "told"), "message": record.getMessage(), "logger": record.name}
        line |= {name: value for name, value in vars(record).items() if name not in _OWN and name[0] != "_"}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def to_stderr(stage: str, worker: int | None = None, stream: IO[str] | None = None) -> None:
    """Let this process log in lines; no other handler stays.

    Building the debug records of the client costs a tenth of a worker's time, so none is built.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(Lines(stage, worker))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.disable(logging.DEBUG)
    for name in _TALKS:
        logging.getLogger(name).setLevel(logging.INFO)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
