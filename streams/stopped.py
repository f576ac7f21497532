"""Why a run stops that nobody stopped.

::

    Stopped
    ├── StageCrashed     a stage raised what no stage may raise (the third time it is a letter)
    ├── BrokenOrder      a stage's input contradicts what it has seen
    ├── TooManyLetters   a stage itself refuses most of what it is given
    └── WrongHome        the home is of another version, or for another model

A message says what happened, at which space and turn, and what to do. Nothing is lost: the next run goes on.
"""

from __future__ import annotations


class Stopped(RuntimeError):  # noqa: N818 - named for the condition, as its kinds are
    """A run cannot go on."""


class StageCrashed(Stopped):
    """A stage has a bug that this input shows. The record is tried again when the run starts again."""


class BrokenOrder(Stopped):
    """The input contradicts what the stage has seen; going on would make another memory."""


class TooManyLetters(Stopped):
    """More than half of the recent records were refused by the stage itself."""


class WrongHome(Stopped):
    """The home was written by another version or for another model."""
