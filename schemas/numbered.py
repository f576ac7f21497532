"""What the first stage is given: an event of the log with the position that it will take."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from schemas.base import SCHEMA_VERSION, Model
from schemas.control import Control
from schemas.header import Header
from schemas.turn import Turn

Event = Annotated[Turn | Control, Field(discriminator="kind")]
"""An event of the log: a turn, or a control event of the system itself."""


class Numbered(Model):
    """An event with its header. ``header.position`` is tentative: a duplicate does not take it.

    ``lettered`` are former positions of an event that is taken again; having been there makes it no repeat.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    header: Header
    event: Event
    lettered: tuple[int, ...] = ()
