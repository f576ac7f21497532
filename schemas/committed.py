"""What ``commit`` writes for one event: complete rows for ``memory`` and vectors for the index."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from schemas.base import SCHEMA_VERSION, Model, absent
from schemas.header import Header
from schemas.memory import Row
from schemas.routed import RecordVector


class Committed(Model):
    """All rows of an event, the outcome last, and the vectors of its new records.

    ``refused`` counts what language models said on the way here that is not so, and was dropped, ``stale`` decisions
    of a consolidation that memory no longer allowed.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    header: Header
    rows: tuple[Row, ...]
    vectors: tuple[RecordVector, ...] = ()
    refused: Annotated[int, Field(ge=0, exclude_if=absent)] = 0
    stale: Annotated[int, Field(ge=0, exclude_if=absent)] = 0
