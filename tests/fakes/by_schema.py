"""The least answer that a JSON Schema allows: what a model says that has nothing to say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def least(schema: Mapping[str, Any]) -> Any:
    """Return a value that fits: all fields, the shortest lists and texts, the first of several words."""
    return _least(schema, schema.get("$defs", {}))


def _least(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Any:
    if "$ref" in schema:
        return _least(defs[schema["$ref"].rpartition("/")[2]], defs)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return _least(schema[several][0], defs)
    return _of_type(schema, defs)


def _of_type(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Any:
    match schema.get("type"):
        case "object":
            return {name: _least(one, defs) for name, one in schema.get("properties", {}).items()}
        case "array":
            ahead = schema.get("prefixItems", [])
            items = [*ahead, *[schema.get("items", {})] * (schema.get("minItems", 0) - len(ahead))]
            return [_least(one, defs) for one in items]
        case "string":
            return "x" * schema.get("minLength", 0)
        case "integer" | "number":
            return schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
        case "boolean":
            return False
        case _:
            return None
