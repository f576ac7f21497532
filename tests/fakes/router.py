"""A router by script: what is said of a new statement, told by words of it and of its target."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from stages.ports import Request

SECTIONS = ("event", "fact", "attribute")


@dataclass
class Router:
    """Says of a new statement with the words ``new`` what ``scripts`` have for it, and ``add`` of all others.

    A script is (new, action, old): the target is the newest statement shown that has the words ``old``. ``shown``
    keeps each different request once. Use ``say`` as that of ``Scripted``.
    """

    scripts: list[tuple[str, str, str]] = field(default_factory=list)
    shown: list[dict[str, Any]] = field(default_factory=list)

    def say(self, request: Request[Any]) -> object:
        asked = json.loads(request.data)
        if asked not in self.shown:
            self.shown.append(asked)
        return {name: self._section(asked.get(name, {})) for name in SECTIONS}

    def _section(self, section: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
        said = [*section.get("known", []), *section.get("new", [])]
        return [self._ruling(one, said) for one in section.get("new", [])]

    def _ruling(self, one: dict[str, Any], said: list[dict[str, Any]]) -> dict[str, Any]:
        for new, action, old in self.scripts:
            targets = [other["id"] for other in said if old in other["text"] and other["id"] != one["id"]]
            if new in one["text"] and targets:
                return {"item": one["id"], "action": action, "target": targets[-1], "reason": f"{action}: {old}"}
        return {"item": one["id"], "action": "add", "target": 0, "reason": "new"}

    def texts(self, at: int = -1) -> dict[str, list[str]]:
        """Return the texts of the sections' lists in a request, by "section list"."""
        lists = ((name, part, ones) for name, parts in self.shown[at].items() for part, ones in parts.items())
        return {f"{name} {part}": [one["text"] for one in ones] for name, part, ones in lists}
