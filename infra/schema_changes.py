"""What a change of the exported JSON Schemas breaks: for programs in other languages, and for what lies in topics.

What the old version wrote must still be read, since topics are replayed; and what the new one writes must be read by
programs of the old one, since they are not all changed at once. A risen ``schema_version`` is told as any other break:
whoever raises it sees to it that readers take both versions (architecture.md, section 6).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

Schema = Mapping[str, Any]

_WORDS: Final = frozenset({"title", "description", "default", "examples", "discriminator", "$defs", "x-schema-version"})
"""Keywords that refuse nothing."""

_LEAST: Final = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_MOST: Final = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_SAME: Final = ("pattern", "format", "contentEncoding", "contentMediaType", "multipleOf", "uniqueItems")
_READ: Final = frozenset({*_WORDS, *_LEAST, *_MOST, *_SAME}) | {
    *("$ref", "type", "const", "enum", "anyOf", "oneOf", "allOf"),
    *("properties", "required", "additionalProperties", "items", "prefixItems"),
}


@dataclass(frozen=True, slots=True)
class Break:
    """Something that was good and is refused now: in which schema, at which field, by whom, and why."""

    schema: str
    where: str
    who: str
    why: str

    def __str__(self) -> str:
        """Return it as a line."""
        return f"{self.schema}{self.where}: {self.who}: {self.why}"


def breaks(old: Mapping[str, Schema], new: Mapping[str, Schema], read_only: frozenset[str]) -> list[Break]:
    """Return what the new schemas break; those in ``read_only`` are written by others, and only read here."""
    found = [Break(name, "", "readers", "the schema is gone") for name in sorted(old.keys() - new.keys())]
    for name in sorted(old.keys() & new.keys()):
        was, now = _Whole(old[name]), _Whole(new[name])
        found += [Break(name, where, "this version refuses what was written", why) for where, why in _lost(was, now)]
        if name not in read_only:
            found += [Break(name, where, "old readers refuse what is written", why) for where, why in _lost(now, was)]
    return found


@dataclass(frozen=True, slots=True)
class _Whole:
    """A part of a document, with the document that its references point into."""

    document: Schema
    part: Schema | None = None

    @property
    def named(self) -> str | None:
        """The name by which this part refers to another, if it does."""
        return (self.document if self.part is None else self.part).get("$ref")

    @property
    def schema(self) -> Schema:
        schema = self.document if self.part is None else self.part
        while "$ref" in schema:
            schema = self.document["$defs"][schema["$ref"].rpartition("/")[2]]
        return schema

    def at(self, part: Schema) -> _Whole:
        return _Whole(self.document, part)

    def options(self) -> list[_Whole]:
        """Return the schemas of which one has to fit."""
        schema = self.schema
        if "allOf" in schema and len(schema["allOf"]) == 1:
            return self.at(schema["allOf"][0]).options()
        cases = schema.get("anyOf") or schema.get("oneOf")
        return [case for one in cases for case in self.at(one).options()] if cases else [self]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a comparison stands; ``inside`` are the pairs of named schemas that it is part of."""

    path: str = ""
    inside: frozenset[tuple[str, str]] = frozenset()

    def at(self, name: object) -> _Place:
        return _Place(f"{self.path}/{name}", self.inside)


_Lost = Iterator[tuple[str, str]]


def _lost(narrow: _Whole, wide: _Whole, where: _Place | None = None) -> _Lost:
    """Yield what of the values that fit ``narrow`` does not fit ``wide``: at which field, and why."""
    where = where or _Place()
    if narrow.named is not None and wide.named is not None:
        if (narrow.named, wide.named) in where.inside:
            return  # a schema that holds itself: what it is being compared for
        where = _Place(where.path, where.inside | {(narrow.named, wide.named)})
    places = wide.options()
    for case in narrow.options():
        tries = [list(_refused(case, place, where)) for place in places if _about_the_same(case, place)]
        if not tries:
            yield where.path, f"{_told(case.schema)} is taken no more"
        elif all(tries):
            yield from min(tries, key=len)


def _told(schema: Schema) -> str:
    return str(schema.get("title") or schema.get("type") or schema.get("const") or "a case")


def _about_the_same(case: _Whole, place: _Whole) -> bool:
    """Tell whether two cases speak of the same thing: of types that meet, and with no constant that says otherwise."""
    one, other = case.schema, place.schema
    if not _types(one) & _types(other):
        return False
    names = one.get("properties", {}).keys() - {"schema_version"}
    tags = [(_constant(case, name), _constant(place, name)) for name in names]
    return all(None in pair or pair[0] == pair[1] for pair in tags)


def _constant(whole: _Whole, name: str) -> str | None:
    """Return the one value that a property may have, if there is but one."""
    part = whole.schema.get("properties", {}).get(name)
    schema = whole.at(part).schema if part is not None else {}
    return repr(schema["const"]) if "const" in schema else None


def _types(schema: Schema) -> set[str]:
    said = schema.get("type")
    if said is None:
        constants = [schema["const"]] if "const" in schema else schema.get("enum", [])
        return {_NAMES[type(one)] for one in constants} or set(_NAMES.values())
    named = {said} if isinstance(said, str) else set(said)
    return named | ({"integer"} if "number" in named else set())


_NAMES: Final = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    dict: "object",
    list: "array",
    type(None): "null",
}


def _refused(case: _Whole, place: _Whole, where: _Place) -> _Lost:
    one, other = case.schema, place.schema
    for word in sorted((one.keys() | other.keys()) - _READ):
        if one.get(word) != other.get(word):
            yield where.path, f"`{word}` changed, and what that means is not known here"
    if missing := sorted(_types(one) - _types(other)):
        yield where.path, f"{' and '.join(missing)} is taken no more"
    yield from ((where.path, why) for rule in (_constants, _limits) for why in rule(one, other))
    yield from _fields(case, place, where)
    yield from _elements(case, place, where)


def _constants(one: Schema, other: Schema) -> Iterator[str]:
    may = [other["const"]] if "const" in other else other.get("enum")
    if may is None:
        return
    is_one = [one["const"]] if "const" in one else one.get("enum")
    if is_one is None:
        yield f"only {may} is taken"
    elif gone := [value for value in is_one if value not in may]:
        yield f"{', '.join(map(repr, gone))} is taken no more"


def _limits(one: Schema, other: Schema) -> Iterator[str]:
    closer: list[tuple[Sequence[str], Callable[[Any, Any], bool]]] = [
        (_LEAST, lambda had, has: had is None or had < has),
        (_MOST, lambda had, has: had is None or had > has),
        (_SAME, lambda had, has: had != has),
    ]
    for words, is_closer in closer:
        for word in words:
            if word in other and is_closer(one.get(word), other[word]):
                yield f"`{word}` is {other[word]!r}, and was {one.get(word, 'not there')!r}"


def _fields(case: _Whole, place: _Whole, where: _Place) -> _Lost:
    one, other = case.schema, place.schema
    if "object" not in _types(one) or not (other.keys() & {"properties", "required", "additionalProperties"}):
        return
    had, has, rest = one.get("properties", {}), other.get("properties", {}), other.get("additionalProperties", True)
    for name in sorted(set(other.get("required", ())) - set(one.get("required", ()))):
        yield where.at(name).path, "has to be there"
    for name in had:
        if name in has:
            yield from _lost(case.at(had[name]), place.at(has[name]), where.at(name))
        elif rest is False:
            yield where.at(name).path, "the field is refused"
        elif isinstance(rest, Mapping):
            yield from _lost(case.at(had[name]), place.at(rest), where.at(name))
    others = one.get("additionalProperties", True)
    if rest is False and others is not False:
        yield where.path, "fields of other names are refused"
    elif isinstance(rest, Mapping) and others is not False:
        yield from _lost(case.at(others if isinstance(others, Mapping) else {}), place.at(rest), where.at("*"))


def _elements(case: _Whole, place: _Whole, where: _Place) -> _Lost:
    one, other = case.schema, place.schema
    if "array" not in _types(one):
        return
    firsts, places = one.get("prefixItems", []), other.get("prefixItems", [])
    for number in range(max(len(firsts), len(places))):
        had = firsts[number] if number < len(firsts) else one.get("items", {})
        has = places[number] if number < len(places) else other.get("items", {})
        if isinstance(had, Mapping) and isinstance(has, Mapping):
            yield from _lost(case.at(had), place.at(has), where.at(number))
    if isinstance(other.get("items"), Mapping) and one.get("items", {}) is not False:
        yield from _lost(case.at(one.get("items", {})), place.at(other["items"]), where.at("-"))
