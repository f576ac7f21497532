"""A moment as it is written: ISO 8601, with its offset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AwareDatetime
from pydantic_core import core_schema

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue


class _Written:
    """Refuses a text that is a number: it would be read as seconds since 1970, the year "2026" among them."""

    def __get_pydantic_core_schema__(self, source: type[Any], handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Check the text, then read it; in Python a moment is given as such."""
        text = core_schema.no_info_after_validator_function(_checked, core_schema.str_schema(strict=True))
        moment = core_schema.datetime_schema(tz_constraint="aware", strict=False)
        return core_schema.json_or_python_schema(core_schema.chain_schema([text, moment]), handler(source))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Describe it as any other date and time."""
        return handler(core_schema.datetime_schema())


def _checked(text: str) -> str:
    if not any(mark in text for mark in "Tt _"):
        msg = "a time is written like 2026-03-01T18:22:05+01:00"
        raise ValueError(msg)
    return text


Moment = Annotated[AwareDatetime, _Written()]
"""A date and time with an offset."""
