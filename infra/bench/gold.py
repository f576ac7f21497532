"""LoCoMo's gold answers and the times of its turns, by the ids of ``question_sets``.

The set is read from a path that the user gives; nothing of it is part of the project.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from infra.bench.question_sets import conversations
from infra.bench.scorers import ADVERSARIAL, CATEGORIES
from infra.errors import UsageError

NOT_THERE: Final = "No information available."
"""The gold answer of a question about what was never said, so that a gold answer scores 1 there as elsewhere."""

_SESSION: Final = re.compile(r"session_\d+")


@dataclass(frozen=True, slots=True)
class Gold:
    """What a question asks, its category's number and the answer held to be right."""

    id: str
    question: str
    category: int
    answer: str


def locomo_gold(path: Path) -> dict[str, Gold]:
    """Return the gold answers of LoCoMo, a file or a folder, by question id (``locomo/SAMPLE#N``).

    Raises:
        UsageError: if a file is not such a list, or a question has an unknown category or no answer.
    """
    return {gold.id: gold for sample in conversations(path) for gold in _of_sample(sample)}


def locomo_times(path: Path) -> dict[str, dict[str, str]]:
    """Return the written time of each turn's session, by space and turn id, for contexts that show it.

    Raises:
        UsageError: if a file is not such a list.
    """
    return {_space(sample): dict(_times(sample["conversation"])) for sample in conversations(path)}


def _space(sample: Mapping[str, Any]) -> str:
    return f"locomo/{sample['sample_id']}"


def _of_sample(sample: Mapping[str, Any]) -> Iterator[Gold]:
    for number, asked in enumerate(sample["qa"]):
        name = f"{_space(sample)}#{number}"
        category = asked["category"]
        if category not in CATEGORIES:
            msg = f"{name} has category {category!r}; LoCoMo's are 1 to 5"
            raise UsageError(msg)
        yield Gold(name, asked["question"], category, _answer(name, asked))


def _answer(name: str, asked: Mapping[str, Any]) -> str:
    """Return the answer as text: some are numbers in the set (a year)."""
    if asked["category"] == ADVERSARIAL:
        return NOT_THERE
    if asked.get("answer") is None:
        msg = f"{name} has no answer, and its category {asked['category']} needs one"
        raise UsageError(msg)
    return str(asked["answer"])


def _times(conversation: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for session in filter(_SESSION.fullmatch, conversation):
        for turn in conversation[session]:
            yield turn["dia_id"], conversation.get(f"{session}_date_time", "")
