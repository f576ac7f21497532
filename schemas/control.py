"""Control events: changes of memory that are not turns, ordered with the turns of their space."""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime

from schemas.base import SCHEMA_VERSION, Model
from schemas.header import Header
from schemas.space import Space
from schemas.turn import Identifier


class Drain(Model):
    """Route what is in working memory now, of one participant or (``None``) of all."""

    action: Literal["drain"] = "drain"
    participant: str | None = None


class Control(Model):
    """A decision of the system itself. ``event_id`` is its idempotency key inside the space."""

    schema_version: Literal[1] = SCHEMA_VERSION
    kind: Literal["control"] = "control"
    space: Space
    event_id: Identifier
    at: AwareDatetime
    body: Drain


class Passed(Model):
    """A control event on its way through the stages that it does not concern."""

    schema_version: Literal[1] = SCHEMA_VERSION
    header: Header
    control: Control
