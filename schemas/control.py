"""Control events: changes of memory that are not turns, ordered with the turns of their space."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from schemas.base import SCHEMA_VERSION, Model, absent
from schemas.consolidation import Consolidation
from schemas.extracted import Extracted
from schemas.header import Header
from schemas.space import Space
from schemas.turn import Identifier


class Drain(Model):
    """Route what is in working memory now, of one participant or (``None``) of all."""

    action: Literal["drain"] = "drain"
    participant: str | None = None


class Redrive(Model):
    """Take an event that became a letter again, at the position where this stands.

    ``original`` are the bytes of that event as ``turns`` holds events, ``own`` whether it was the system's own;
    ``stage`` refused it, and ``attempt`` counts from 1, the first being the event itself. ``lettered`` are the
    positions that it has had so far: having been there makes it no repeat, since nothing of it came to memory.
    """

    action: Literal["redrive"] = "redrive"
    letter_id: str
    stage: str
    attempt: Annotated[int, Field(ge=2)]
    lettered: tuple[Annotated[int, Field(ge=0)], ...] = ()
    own: bool = False
    original: bytes


Body = Annotated[Drain | Redrive | Consolidation, Field(discriminator="action")]
"""What a control event asks for."""


class Control(Model):
    """A decision of the system itself. ``event_id`` is its idempotency key inside the space."""

    schema_version: Literal[1] = SCHEMA_VERSION
    kind: Literal["control"] = "control"
    space: Space
    event_id: Identifier
    at: AwareDatetime
    body: Body


class Passed(Model):
    """A control event on its way through the stages; all but ``route`` hand it on.

    ``vectors`` are the int8 vectors of the texts that it brings into memory, in order: the log holds none, since they
    belong to an encoder. ``read`` is what turns said that waited for a reply and that a drain let be read: its items
    each quote their own turn, and its ``localized`` is the last of these under the header of the drain.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    header: Header
    control: Control
    vectors: Annotated[tuple[bytes, ...], Field(exclude_if=absent)] = ()
    read: Annotated[Extracted | None, Field(exclude_if=absent)] = None
