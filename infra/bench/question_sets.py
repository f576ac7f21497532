"""Question sets with known evidence: which turns a memory should bring for each question.

Readers give questions, their evidence and the plain turns that baselines search; how the sets become turns of the log
is the importers' matter, and the ids here are theirs. The sets are read from a path and are no part of the project.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_DIALOGUE_ID = re.compile(r"D(\d+):(\d+)")
"""LoCoMo writes several ids into one string, and some with a leading zero ("D8:6; D9:17", "D30:05")."""

_SESSION = re.compile(r"session_(\d+)")
_GENERATOR_INDEX = re.compile(r"\s*->->\s*[\d,\s]+$")
"""Behind the user's texts in BEAM stands the index of the generator's plan; nobody said it."""


@dataclass(frozen=True, slots=True)
class PlainTurn:
    """A turn as a baseline sees it: its text with its captions behind it."""

    turn_id: str
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, its ``group`` (category or ability) and its evidence (turn ids that exist, in order; may be none)."""

    id: str
    question: str
    group: str
    evidence: tuple[str, ...]
    asker: str | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    """A conversation in its order, and what is asked about it."""

    space: str
    turns: tuple[PlainTurn, ...]
    questions: tuple[Asked, ...]


def load_locomo(path: Path) -> list[Sample]:
    """Read LoCoMo (Maharana et al. 2024); ``group`` is the category's number, ``"1"`` to ``"5"``.

    Raises:
        ValueError: if the file is not such a list.
    """
    return [_locomo_sample(sample) for sample in _list(_json(path), path)]


def load_beam(path: Path) -> list[Sample]:
    """Read BEAM chats, one file or a folder of them; ``group`` is the ability. Abstention has no evidence.

    Raises:
        ValueError: if a file is not such a chat.
    """
    files = sorted(path.glob("*.json*")) if path.is_dir() else [path]
    return [_beam_sample(_mapping(_json(file), file)) for file in files]


def _json(path: Path) -> object:
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)


def _list(value: object, path: Path) -> list[Any]:
    if not isinstance(value, list):
        msg = f"{path} should hold a JSON list of conversations"
        raise ValueError(msg)  # noqa: TRY004 - a wrong file is a wrong value to the caller
    return value


def _mapping(value: object, path: Path) -> Mapping[str, Any]:
    if not isinstance(value, dict) or "chat" not in value:
        msg = f'{path} should hold a JSON object with a "chat"'
        raise ValueError(msg)
    return value


def _locomo_sample(sample: Mapping[str, Any]) -> Sample:
    space = f"locomo/{sample['sample_id']}"
    turns = tuple(_locomo_turns(sample["conversation"]))
    known = {turn.turn_id for turn in turns}
    questions = (
        Asked(f"{space}#{n}", qa["question"], str(qa["category"]), _existing(_dialogue_ids(qa), known))
        for n, qa in enumerate(sample["qa"])
    )
    return Sample(space, turns, tuple(questions))


def _locomo_turns(conversation: Mapping[str, Any]) -> Iterator[PlainTurn]:
    numbers = sorted(int(match[1]) for key in conversation if (match := _SESSION.fullmatch(key)))
    for turn in (turn for number in numbers for turn in conversation[f"session_{number}"]):
        caption = turn.get("blip_caption")
        yield PlainTurn(turn["dia_id"], turn["speaker"], f"{turn['text']}\n{caption}" if caption else turn["text"])


def _dialogue_ids(qa: Mapping[str, Any]) -> Iterator[str]:
    for text in qa.get("evidence") or ():
        for session, number in _DIALOGUE_ID.findall(str(text)):
            yield f"D{int(session)}:{int(number)}"


def _beam_sample(chat: Mapping[str, Any]) -> Sample:
    space = f"beam/{chat['chat_id']}"
    messages = [message for batch in chat["chat"] for group in batch["turns"] for message in group]
    turns = tuple(
        PlainTurn(str(message["id"]), message["role"], _GENERATOR_INDEX.sub("", message["content"]))
        for message in messages
    )
    known = {turn.turn_id for turn in turns}
    questions = (
        Asked(f"{space}#{ability}#{n}", probe["question"], ability, _existing(_source_ids(probe), known), "user")
        for ability, probes in chat["probing_questions"].items()
        for n, probe in enumerate(probes)
    )
    return Sample(space, turns, tuple(questions))


def _source_ids(probe: Mapping[str, Any]) -> Iterator[str]:
    """Yield the ids in ``source_chat_ids``: a list, or a list for each named part of the answer."""
    waiting = [probe.get("source_chat_ids")]
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
        elif value is not None:
            yield str(value)


def _existing(ids: Iterable[str], known: set[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in ids if name in known))
