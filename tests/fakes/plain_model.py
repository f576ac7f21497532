"""What a language model says that keeps to the prompts of all stages and finds something plain in each."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.fakes.chat_server import Asked, Reply, said


def understood(_data: Any) -> object:
    return {"topic": "", "attitude": "none", "reason": "", "facts": [], "attributes": [], "summary": "Somebody spoke."}


def read_out(data: Any) -> object:
    """Take each turn whole, under the first view."""
    return {
        "items": [
            {"views": [1], "turn": one["n"], "quote": one["text"][:200], "text": one["text"][:200], "owner": 1}
            for one in data["turns"]
        ]
    }


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


ANSWERS: dict[str, Callable[[Any], object]] = {
    "normalize_understand": understood,
    "extract_per_view_extract": read_out,
    "extract_per_view_discover": discovered,
    "extract_per_view_canonical": canonical,
    "route_route": ruled,
}
"""By the names of the prompts, as a request bears them."""


def plain(asked: Asked) -> Reply:
    """Answer a request; one that is asked again has the fault behind its data."""
    return said(json.dumps(ANSWERS[asked.name](json.loads(asked.user.partition("\n")[0]))))
