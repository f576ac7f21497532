"""Errors that end a command, as a small tree.

::

    AnabranchError
    ├── UsageError       wrong use: an argument, a setting or an input file           exit code 2
    │   ├── TopicsUnfitError (infra.kafka) a topic has too few partitions, or copies than the cluster can hold
    │   ├── NoSuchRun (infra.nights) no record of a run of consolidation stands
    │   └── IndexMismatchError (infra.qdrant) the index is of another generation, model or dimension
    ├── RunBusy (infra.nights) another process consolidates the tenant               exit code 1
    └── MissingError     a service, a model or the home itself cannot be had          exit code 3
        ├── BrokerFailedError (infra.kafka) the broker ended or does not answer
        ├── ModelMissing a model is not on this machine; ``command`` brings it
        ├── HomeBusy     another process owns the home
        ├── HomeUnusable the home cannot be made, read or written, or is another version's
        └── IndexInUseError (infra.qdrant) this process has the index open already

A message says what happened, to what, and what to do.
"""

from __future__ import annotations

from typing import ClassVar

from stages.contract import Unavailable


class AnabranchError(Exception):
    """What a person can put right. ``exit_code`` is the command's."""

    exit_code: ClassVar[int] = 2


class UsageError(AnabranchError):
    """Wrong use: an argument, a setting or an input file that cannot be what was meant."""


class MissingError(AnabranchError):
    """A service, a model or the home cannot be had."""

    exit_code: ClassVar[int] = 3


class ModelMissing(MissingError, Unavailable):  # noqa: N818 - named for the condition, like `Unavailable`
    """A model is not on this machine and may not be fetched. ``command`` is the one that brings it.

    For a stage it is ``Unavailable``: no event is to blame, and none becomes a letter.
    """

    def __init__(self, model: str, reason: str, command: str) -> None:
        super().__init__(f"the model {model} is missing: {reason}\nTo bring it: {command}")
        self.command = command


class HomeBusy(MissingError):  # noqa: N818 - named for the condition, like `Unavailable`
    """Another process owns the home of the embedded mode."""


class HomeUnusable(MissingError):  # noqa: N818 - named for the condition, like `Unavailable`
    """The home cannot be made, read or written, or was written by another version or for another model."""
