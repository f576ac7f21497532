"""The only place that turns the bytes of topics, tables and index into models and back.

What a stage keeps in the parts of its state, and what foreign files hold, is read by whoever knows its shape.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from schemas.numbered import Event

T = TypeVar("T")

_MAX_FAULTS = 8
"""A reason is read by a person; what is wrong beyond this many fields does not help them more."""

_MAX_ID = 256
"""As ``schemas.turn.Identifier``: a longer id cannot be anybody's."""


class Malformed(ValueError):  # noqa: N818 - the message is the error; it becomes the reason of a letter
    """Bytes that are not what their topic holds."""


@dataclass(frozen=True, slots=True)
class Codec(Generic[T]):
    """Canonical JSON of one kind of message: fields in the order of their schema, no white space."""

    adapter: TypeAdapter[T]

    def encode(self, message: T) -> bytes:
        """Return the bytes of ``message``; equal messages give equal bytes."""
        return self.adapter.dump_json(message)

    def decode(self, data: bytes) -> T:
        """Read a message.

        Raises:
            Malformed: if the bytes are not one; the message names each wrong field.
        """
        try:
            return self.adapter.validate_json(data)
        except ValidationError as error:
            raise Malformed(explain(error)) from error


def codec(message: Any) -> Codec[Any]:  # noqa: ANN401 - a union of models is no type for a parameter
    """Return the codec of a model or a union of models.

    No message is of two kinds, so the first kind that fits is it: to look at the others as well takes twice the time.
    """
    if isinstance(message, UnionType):
        message = Annotated[message, Field(union_mode="left_to_right")]
    return Codec(TypeAdapter(message))


def explain(error: ValidationError) -> str:
    """Say in one line what is wrong with each field, up to ``_MAX_FAULTS`` of them."""
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    shown = "; ".join(f"{_where(fault['loc'])}: {fault['msg']}" for fault in faults[:_MAX_FAULTS])
    return shown if len(faults) <= _MAX_FAULTS else f"{shown}; and {len(faults) - _MAX_FAULTS} more"


def _where(location: tuple[int | str, ...]) -> str:
    names = [str(part) for part in location if part not in {"turn", "control"}]
    return ".".join(names) or "event"


@dataclass(frozen=True, slots=True)
class Peek:
    """What can be read of an event without believing it: its space, id, revision and kind."""

    space: str | None
    event_id: str | None
    is_control: bool


_EVENT: Codec[Event] = codec(Event)


def decode_event(data: bytes) -> Event:
    """Read an event of the log, lenient about surrogates and about a missing ``kind`` (it is a turn), then strict.

    Raises:
        Malformed: if it is none; the message names each wrong field.
    """
    body = _read(data)
    if not isinstance(body, dict):
        msg = f"an event is a JSON object, not {type(body).__name__}"
        raise Malformed(msg)
    return _EVENT.decode(json.dumps({"kind": "turn"} | body, ensure_ascii=False).encode())


def peek(data: bytes) -> Peek:
    """Read the space and the id of an event whose body may be wrong."""
    try:
        body = _read(data)
    except Malformed:
        return Peek(None, None, is_control=False)
    if not isinstance(body, dict):
        return Peek(None, None, is_control=False)
    is_control = body.get("kind") == "control"
    return Peek(_text(body.get("space")), _identifier(body, is_control=is_control), is_control)


def revision(data: bytes) -> int:
    """Return the revision that an event names (0 where it names none that can be read)."""
    try:
        body = _read(data)
    except Malformed:
        return 0
    number = body.get("revision") if isinstance(body, dict) else None
    return number if isinstance(number, int) else 0


def spelled(text: str) -> bytes:
    """Return a text as it stands in an event that is written in UTF-8 without escapes."""
    return json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _identifier(body: dict[str, Any], *, is_control: bool) -> str | None:
    name = _text(body.get("event_id" if is_control else "turn_id"))
    return name if name is not None and len(name) <= _MAX_ID else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _read(data: bytes) -> Any:  # noqa: ANN401 - JSON
    try:
        return _scrub(json.loads(data.decode("utf-8", "surrogatepass")))
    except UnicodeDecodeError as error:
        msg = f"not UTF-8 at byte {error.start}"
        raise Malformed(msg) from error
    except json.JSONDecodeError as error:
        msg = f"not JSON: {error}"
        raise Malformed(msg) from error
    except RecursionError as error:
        msg = "not an event: nested too deeply"
        raise Malformed(msg) from error
    except ValueError as error:  # of the others it is a kind, so it comes last
        msg = "not an event: a number in it has thousands of digits"
        raise Malformed(msg) from error


def _scrub(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Join surrogate pairs and drop lone ones: no text with one can be stored or encoded."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    if isinstance(value, list):
        return [_scrub(item) for item in value]
    if isinstance(value, dict):
        return {_scrub(key): _scrub(item) for key, item in value.items()}
    return value


def canonical(model: BaseModel) -> str:
    """Return canonical JSON for people and comparisons: sorted keys, no white space, text as it is."""
    return json.dumps(model.model_dump(mode="json"), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
