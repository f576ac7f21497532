"""Values of the state stored as lists: names of fields would take more room than what they hold."""

from __future__ import annotations

from functools import cache
from typing import ClassVar

from pydantic import ConfigDict, model_serializer, model_validator

from schemas.base import Model


@cache
def _fields(packed: type[Model]) -> tuple[tuple[str, object], ...]:
    return tuple((name, field.default) for name, field in packed.model_fields.items())


class Packed(Model):
    """A value that is stored as the list of its fields, without those at the end that have their default."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        strict=False
    )  # JSON lists and numbers stand for tuples and enumerations

    @model_serializer(mode="plain")
    def _pack(self) -> list[object]:
        fields = _fields(type(self))
        values: list[object] = [getattr(self, name) for name, _default in fields]
        while values and values[-1] == fields[len(values) - 1][1]:
            values.pop()
        return values

    @model_validator(mode="before")
    @classmethod
    def _unpack(cls, data: object) -> object:
        return dict(zip(cls.model_fields, data, strict=False)) if isinstance(data, list) else data
