"""Edge ``turns.routed``: the rows that an event adds to memory."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from schemas.base import SCHEMA_VERSION, Model, absent
from schemas.control import Passed
from schemas.extracted import Extracted
from schemas.header import Header
from schemas.memory import ChangedRow, ClosedRow, EdgeRow, LeftRow, RecordRow


class RecordVector(Model):
    """The int8 vector of a record (one byte a dimension); kept out of the rows, which show no vectors."""

    record_id: str
    vector: bytes


RoutedRow = Annotated[RecordRow | EdgeRow | ClosedRow | LeftRow | ChangedRow, Field(discriminator="row")]


class Routed(Model):
    """What route decided: rows in the order in which they are to be written, and the vectors of new records.

    ``degraded`` says that a model's answer was no use, so that what left working memory went by rules; ``refused``
    counts what a model asked for and may not have, each taken for an addition; ``stale`` the decisions of a
    consolidation that memory no longer allows.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    header: Header
    source: Extracted | Passed = Field(union_mode="left_to_right")  # no message is both: one look is enough
    rows: tuple[RoutedRow, ...] = ()
    vectors: tuple[RecordVector, ...] = ()
    degraded: bool = False
    refused: Annotated[int, Field(ge=0)] = 0
    stale: Annotated[int, Field(ge=0, exclude_if=absent)] = 0
