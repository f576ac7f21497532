"""The topics as an AsyncAPI 3.0 document: what bots in any language publish, and what lies in each topic.

Kafka's own settings are those that ``topics apply`` makes in production. AsyncAPI's Kafka binding (0.5.0) has names for
some settings; the rest stands beside them under ``x-settings``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import TypeAdapter

from infra.kafka.topics import WantedTopic, wanted
from schemas.control import Control, Passed
from schemas.extracted import Extracted
from schemas.header import Header, Skipped
from schemas.letter import Letter
from schemas.localized import Localized
from schemas.memory import Row
from schemas.model_result import ModelResult
from schemas.normalized import Normalized
from schemas.routed import Routed
from schemas.turn import Turn
from streams.kafka.names import LETTERS, RESULTS, state_topic
from streams.kafka.wire import HEADER, HEARTBEAT, MARKER, NEXT, OWN, PAUSE, QUARANTINE, REWIND, TRACE
from streams.topology import EXTRACTED, FLOW, LOCALIZED, MEMORY, NORMALIZED, ROUTED, TURNS

VERSION: Final = "3.0.0"
_BINDING: Final = "0.5.0"
_JSON: Final = "application/json"
_NUMBERS: Final = ("retention.ms", "retention.bytes", "delete.retention.ms", "max.message.bytes")
"""Settings that the binding knows, all numbers; ``cleanup.policy`` is a list there."""

_SPACE_KEY: Final = "The space, `tenant/name`, in UTF-8. The partition is murmur2 of it, as Kafka's own clients choose."
_ROW_KEY: Final = "The space, a blank, and the row's own key; the partition is that of the space."
_STATE_KEY: Final = (
    "The space, the slot (0 or 1) and the part's name, with blanks between; or a word that names the row."
)
_OWN_ROWS: Final = ", ".join(key.decode().strip() for key in (NEXT, QUARANTINE, REWIND, PAUSE, HEARTBEAT))


@dataclass(frozen=True, slots=True)
class _Message:
    """A kind of record: its schema if it is JSON, what its key is, and the record headers it has."""

    title: str
    summary: str
    key: str = _SPACE_KEY
    schema: Any = None
    mode: Literal["validation", "serialization"] = "serialization"
    headers: tuple[str, ...] = ()


_MESSAGES: Final = {
    "turn": _Message("Turn", "A turn, as bots publish it.", schema=Turn, mode="validation", headers=(TRACE,)),
    "control": _Message("Control event", "What the system itself asks for.", schema=Control, headers=(OWN, TRACE)),
    "normalized": _Message("Normalized turn", "", schema=Normalized, headers=(HEADER, TRACE)),
    "localized": _Message("Localized turn", "", schema=Localized, headers=(HEADER, TRACE)),
    "extracted": _Message("Extracted turn", "", schema=Extracted, headers=(HEADER, TRACE)),
    "routed": _Message("Routed event", "", schema=Routed, headers=(HEADER, TRACE)),
    "passed": _Message("Control event on its way", "", schema=Passed, headers=(HEADER, TRACE)),
    "skipped": _Message(
        "Marker", "Stands in for an event that became a letter.", schema=Skipped, headers=(HEADER, MARKER, TRACE)
    ),
    "row": _Message(
        "Row of memory", "Equal bytes for equal keys; without a value it is gone.", key=_ROW_KEY, schema=Row
    ),
    "letter": _Message("Letter", "What was refused, with its original bytes in base64.", schema=Letter),
    "state": _Message(
        "Part of a stage's state",
        f"Internal: the version in decimal digits, a line feed, and the part's bytes. Keys that begin with {_OWN_ROWS} "
        "are those of the partition's own rows.",
        key=_STATE_KEY,
    ),
    "result": _Message(
        "Answer of a model",
        "Internal: the first record of a key stands.",
        key="The space, a blank, and the hash of the request; the partition is that of the space.",
        schema=ModelResult,
    ),
}

_HEADERS: Final[Mapping[str, dict[str, Any]]] = {
    HEADER: {"type": "string", "description": "Where the event stands: the schema `Header` as JSON."},
    MARKER: {"type": "string", "description": "`1`: the value is a marker."},
    OWN: {"type": "string", "description": "Whatever it holds: the system itself wrote the event."},
    TRACE: {"type": "string", "description": "W3C trace context of the publisher; every stage passes it on."},
}
_NEEDED: Final = frozenset({HEADER, MARKER})
"""Record headers that are there whenever a message has them; the others may be."""

_HELD: Final[Mapping[str, tuple[str, ...]]] = {
    TURNS.name: ("turn", "control"),
    NORMALIZED.name: ("normalized", "passed", "skipped"),
    LOCALIZED.name: ("localized", "passed", "skipped"),
    EXTRACTED.name: ("extracted", "passed", "skipped"),
    ROUTED.name: ("routed", "skipped"),
    MEMORY.name: ("row",),
    RESULTS: ("result",),
    LETTERS: ("letter",),
    **{state_topic(step.name): ("state",) for step in FLOW},
}


def document() -> dict[str, Any]:
    """Return the document, as plain JSON values."""
    inputs = [(name, one.mode, TypeAdapter(one.schema)) for name, one in _MESSAGES.items() if one.schema is not None]
    inputs.append(("header", "serialization", TypeAdapter(Header)))
    payloads, definitions = TypeAdapter.json_schemas(inputs, ref_template="#/components/schemas/{model}")
    return {
        "asyncapi": VERSION,
        "info": {
            "title": "Anabranch",
            "version": "1",
            "description": "Long-term memory of dialogue agents. Bots publish turns; five stages make memory of them.",
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": _JSON,
        "channels": {_ident(topic.name): _channel(topic) for topic in wanted(replication=3)},
        "operations": dict(_operations()),
        "components": {
            "messages": {name: _message(name, one, payloads) for name, one in _MESSAGES.items()},
            "schemas": _plain(definitions["$defs"]),
        },
    }


def _plain(schema: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a schema without OpenAPI's discriminators, which AsyncAPI does not know: constants tell cases apart."""
    if isinstance(schema, list):
        return [_plain(one) for one in schema]
    if isinstance(schema, dict):
        return {name: _plain(one) for name, one in schema.items() if name != "discriminator"}
    return schema


def _ident(topic: str) -> str:
    return topic.replace(".", "_")


def _channel(topic: WantedTopic) -> dict[str, Any]:
    settings = topic.settings
    known: dict[str, Any] = {name: int(settings[name]) for name in _NUMBERS if name in settings}
    known["cleanup.policy"] = [settings["cleanup.policy"]]
    rest = {name: value for name, value in settings.items() if name not in known}
    kafka = {"partitions": topic.partitions, "replicas": topic.replication, "topicConfiguration": known}
    return {
        "address": topic.name,
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in _HELD[topic.name]},
        "bindings": {"kafka": {**kafka, "bindingVersion": _BINDING}},
        "x-settings": rest,
    }


def _operations() -> Iterable[tuple[str, dict[str, Any]]]:
    """Yield what the system does with each topic: it receives what bots publish, and each stage reads and writes."""
    yield "publish", _operation("receive", TURNS.name, "A bot publishes turns, or redrives a letter.")
    for step in FLOW:
        yield f"{step.name}_reads", _operation("receive", step.source.name, f"The stage {step.name} reads.")
        yield f"{step.name}_writes", _operation("send", step.target.name, f"The stage {step.name} writes.")
    yield "refuse", _operation("send", LETTERS, "Any stage refuses an event.")


def _operation(action: str, topic: str, summary: str) -> dict[str, Any]:
    return {"action": action, "channel": {"$ref": f"#/channels/{_ident(topic)}"}, "summary": summary}


def _message(name: str, one: _Message, payloads: Mapping[Any, Any]) -> dict[str, Any]:
    binding = {"key": {"type": "string", "description": one.key}, "bindingVersion": _BINDING}
    message: dict[str, Any] = {"name": name, "title": one.title, "bindings": {"kafka": binding}}
    if one.summary:
        message["summary"] = one.summary
    if one.headers:
        needed = [header for header in one.headers if header in _NEEDED]
        properties = {header: _HEADERS[header] for header in one.headers}
        message["headers"] = {"type": "object", "properties": properties} | ({"required": needed} if needed else {})
    if one.schema is None:
        return message | {"contentType": "application/octet-stream"}
    return message | {"contentType": _JSON, "payload": _plain(payloads[name, one.mode])}
