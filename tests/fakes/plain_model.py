"""What a language model says that keeps to the prompts of all stages and finds something plain in each."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from stages.text.tokens import content_tokens
from tests.fakes.chat_server import Asked, Reply, said

_LONGEST = 200


def understood(_data: Any) -> object:
    return {"topic": "", "attitude": "none", "reason": "", "facts": [], "attributes": [], "summary": "Somebody spoke."}


def read_out(data: Any) -> object:
    """Take the beginning of each turn that says something, under the first view."""
    return {
        "items": [
            {
                "views": [1],
                "turn": one["n"],
                "quote": _begun(one["text"]),
                "text": _begun(one["text"]),
                "owner": one["speaker"],
            }
            for one in data["turns"]
            if len(content_tokens(one["text"])) > 1
        ]
    }


def _begun(text: str) -> str:
    """Return the beginning of a text, to a whole word of its first line."""
    line = text.split("\n", maxsplit=1)[0]
    return line if len(line) <= _LONGEST else line[:_LONGEST].rsplit(" ", 1)[0]


def discovered(data: Any) -> object:
    mark = f"{len(json.dumps(data)) % 97}"
    names = [f"angle {number} of {mark}" for number in range(10)]
    return {
        "views": [
            {"name": name, "kind": "fact", "slots": ["what"], "look_for": f"Look for {name}.", "chunks": [1]}
            for name in names
        ]
    }


def canonical(data: Any) -> object:
    return {name: data["seed"][name] for name in ("name", "slots", "look_for")}


def ruled(data: Any) -> object:
    return {
        kind: [
            {"item": one["id"], "action": "add", "target": 0, "reason": ""} for one in data.get(kind, {}).get("new", ())
        ]
        for kind in ("event", "fact", "attribute")
    }


def alone(_data: Any) -> object:
    return {"groups": []}


def portrayed(data: Any) -> object:
    return {"text": _begun(data["statements"])}


ANSWERS: dict[str, Callable[[Any], object]] = {
    "normalize_understand": understood,
    "extract_per_view_extract": read_out,
    "extract_per_view_discover": discovered,
    "extract_per_view_canonical": canonical,
    "route_route": ruled,
    "consolidate_merge": alone,
    "consolidate_topics": alone,
    "consolidate_persona": portrayed,
}
"""By the names of the prompts, as a request bears them."""


def plain(asked: Asked) -> Reply:
    """Answer a request; one that is asked again has the fault behind its data."""
    return said(json.dumps(ANSWERS[asked.name](json.loads(asked.user.partition("\n")[0]))))
