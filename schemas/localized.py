"""Edge ``turns.localized``: which earlier interaction state a turn resumes (ArborMem)."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from schemas.base import SCHEMA_VERSION, Model
from schemas.header import Header
from schemas.normalized import Normalized


class Rule(StrEnum):
    """What chose the parent."""

    EXPLICIT = "explicit"
    TEMPORAL = "temporal"
    RANKED = "ranked"
    NEW_ROOT = "new_root"


class RunnerUp(Model):
    """A candidate that was not chosen, with its score (thousandths of a logit)."""

    turn_id: str
    score: int


class Placement(Model):
    """Where a turn hangs in the forest.

    ``branch`` is the position of its root, ``interaction`` the position of the turn that opened its interaction
    (its own, if it opens one), ``depth`` the number of turns above it. ``path_summary`` describes the branch down
    to the parent, at most 500 bytes. Scores are integers (thousandths of a logit); ``None`` where a rule chose.
    """

    parent_turn_id: str | None = None
    parent_position: int | None = None
    other_parents: tuple[str, ...] = ()
    rule: Rule
    score: int | None = None
    runners_up: tuple[RunnerUp, ...] = ()
    branch: int
    interaction: int
    depth: int = 0
    path_summary: str = ""


class Localized(Model):
    """A normalized turn with its place in the forest."""

    schema_version: Literal[1] = SCHEMA_VERSION
    header: Header
    normalized: Normalized
    placement: Placement
