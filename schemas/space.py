"""The unit of order and isolation."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from pydantic_core import core_schema

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler

_PART = r"[A-Za-z0-9][A-Za-z0-9._@:+=~-]{0,199}"
_PATTERN = re.compile(rf"({_PART})/({_PART})")


class Space(str):
    """``tenant/space``: usually one end user and their agents.

    Both parts are 1 to 200 characters of letters, digits and ``._@:+=~-``, beginning with a letter or digit.

    Raises:
        ValueError: if the text has another form.
    """

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Check and wrap ``text``."""
        if not _PATTERN.fullmatch(text):
            msg = (
                f"a space is written tenant/space, each of 1 to 200 letters, digits or ._@:+=~- "
                f"and beginning with a letter or digit; got {text[:80]!r}"
            )
            raise ValueError(msg)
        return super().__new__(cls, text)

    @property
    def tenant(self) -> str:
        """The part before the slash."""
        return self.partition("/")[0]

    @property
    def name(self) -> str:
        """The part after the slash."""
        return self.partition("/")[2]

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: type[Any], _handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Validate from a string and serialize as one. Every message holds several, so the form is checked once."""
        return core_schema.no_info_after_validator_function(
            partial(str.__new__, cls),
            core_schema.str_schema(pattern=rf"^{_PATTERN.pattern}$"),
            serialization=core_schema.to_string_ser_schema(),
        )
