"""How worker processes end, and which ends a new start can mend."""

from __future__ import annotations

import signal
from typing import Final

from infra.errors import MissingError, UsageError
from streams.stopped import TooManyLetters
from streams.watchdog import HUNG

FAILED: Final = 1
"""A stage crashed at a text, or something that nobody foresaw."""
LETTERED: Final = 4
"""Too many letters: as commands say that turns were lettered."""
STILL: Final = 75
"""No progress although there is work, or no partitions any more (EX_TEMPFAIL)."""
LEFT: Final = 76
"""The supervisor is gone, and what was in hand could not be finished in time."""

_NAMES: Final = {HUNG: "hung", STILL: "no progress", LEFT: "supervisor gone", FAILED: "failed"}
_AT_START: Final = frozenset({UsageError.exit_code, MissingError.exit_code})


def code_of(fault: BaseException) -> int:
    """Return the exit code for what ended a worker."""
    if isinstance(fault, TooManyLetters):
        return LETTERED
    if isinstance(fault, UsageError | MissingError):
        return fault.exit_code
    return STILL if isinstance(fault, NoProgress) else FAILED


def cause_of(code: int) -> str:
    """Return why a process ended, in words that a metric can bear; ``code`` is below zero for a signal."""
    if code < 0:
        return signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    return _NAMES.get(code, f"exit code {code}")


def needs_a_person(code: int, *, was_up: bool) -> bool:
    """Whether another start would end the same: settings are wrong or a service is missing, from the first start on.

    ``was_up`` says that such a worker ran before: then a broker or a server is away, and comes back.
    """
    return code == LETTERED or (code in _AT_START and not was_up)


class NoProgress(RuntimeError):  # noqa: N818 - named for the condition
    """A worker has work and gets nowhere, or lost its partitions; a new process may do better."""
