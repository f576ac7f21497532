"""Prompts as versioned files beside their stage: ``prompts/NAME.vN.md``, in our own words around the papers' fields.

A change of a prompt is a new version, since answers are kept by it: a test holds the digest of each.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Generic, TypeVar

from schemas.base import Model

A = TypeVar("A", bound=Model)


@dataclass(frozen=True, slots=True)
class Prompt(Generic[A]):
    """The part of a request that is the same in all of its kind.

    ``name`` is "stage.purpose"; ``answer`` is the type of the answer, whose JSON Schema goes with the request: small,
    arrays bounded, no free-form objects. ``longest`` bounds the answer, in tokens.
    """

    name: str
    version: int
    text: str
    answer: type[A]
    longest: int

    @property
    def stage(self) -> str:
        """The stage that asks."""
        return self.name.partition(".")[0]


def load_prompt(package: str, name: str, version: int, answer: type[A], longest: int) -> Prompt[A]:
    """Read a prompt of a stage's package (``stages.normalize``); once, at import.

    Raises:
        FileNotFoundError: if the package has no such version.
    """
    text = files(package).joinpath("prompts", f"{name}.v{version}.md").read_text(encoding="utf-8").strip()
    return Prompt(f"{package.rpartition('.')[2]}.{name}", version, text, answer, longest)


def as_data(named: Mapping[str, object]) -> str:
    """Return values as one JSON object a model is to read as data: a text in it cannot end its own quotation."""
    return json.dumps(named, ensure_ascii=False, separators=(",", ":"))
