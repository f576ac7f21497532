"""A dialogue turn, as bots publish it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from schemas.base import SCHEMA_VERSION, Model
from schemas.moment import Moment
from schemas.space import Space

Identifier = Annotated[str, StringConstraints(min_length=1, max_length=256, pattern=r"^[^\x00-\x1f\x7f-\x9f]+$")]
"""An id that a client chose: 1 to 256 characters, none of them a control character."""

Name = Annotated[str, StringConstraints(max_length=256)]
"""A name or label: states and records keep it with every turn, so it is short."""

Address = Annotated[str, StringConstraints(max_length=4096)]
"""A URL; longer ones are data, which belongs elsewhere."""


class Role(StrEnum):
    """Who speaks: a person, a bot, or the channel itself."""

    USER = "user"
    AGENT = "agent"
    SYSTEM = "system"


class Speaker(Model):
    """A participant of a space. ``name`` is how others call them; the id stands in where it is missing."""

    id: Identifier
    name: Name | None = None
    role: Role = Role.USER

    @property
    def label(self) -> str:
        """The name to show."""
        return self.name or self.id


class Attachment(Model):
    """A picture or file. Its caption is text of the turn."""

    caption: str | None = None
    url: Address | None = None


class Turn(Model):
    """One utterance of one participant. ``turn_id`` is the client's idempotency key inside the space.

    ``at`` needs a UTC offset. ``revision`` rises when the client replaces the text of a turn.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    kind: Literal["turn"] = "turn"
    space: Space
    turn_id: Identifier
    speaker: Speaker
    text: str
    at: Moment
    reply_to: Identifier | None = None
    session: Name | None = None
    attachments: tuple[Attachment, ...] = ()
    revision: Annotated[int, Field(ge=0, lt=2**31)] = 0
