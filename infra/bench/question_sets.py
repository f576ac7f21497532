"""Question sets with known evidence: which turns a memory should bring for each question.

Readers give questions, their evidence and the plain turns that baselines search; how the sets become turns of the log
is the importers' matter, and ids and texts here are theirs. The sets are read from a path and are no part of the
project.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.errors import UsageError
from infra.importers.beam import said
from infra.importers.files import document, files

_DIALOGUE_ID = re.compile(r"D(\d+):(\d+)")
"""LoCoMo writes several ids into one string, and some with a leading zero ("D8:6; D9:17", "D30:05")."""

_SESSION = re.compile(r"session_(\d+)")


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
    """Read LoCoMo (Maharana et al. 2024), a file or a folder; ``group`` is the category's number, ``"1"`` to ``"5"``.

    Raises:
        UsageError: if a file is not such a list.
    """
    return [_locomo_sample(sample) for sample in conversations(path)]


def load_beam(path: Path) -> list[Sample]:
    """Read BEAM chats, a file or a folder; ``group`` is the ability. Abstention has no evidence.

    Raises:
        UsageError: if a file is not such a chat.
    """
    return [_beam_sample(chat) for chat in _chats(path)]


def conversations(path: Path) -> Iterator[Mapping[str, Any]]:
    """Give LoCoMo's conversations as they are, of a file or a folder.

    Raises:
        UsageError: if a file is not such a list.
    """
    for file in files(path, ".json"):
        samples = document(file)
        if not isinstance(samples, list):
            msg = f"{file} should hold a JSON list of conversations"
            raise UsageError(msg)
        yield from samples


def _chats(path: Path) -> Iterator[Mapping[str, Any]]:
    for file in files(path, ".json"):
        chat = document(file)
        if not isinstance(chat, dict) or "chat" not in chat:
            msg = f'{file} should hold a JSON object with a "chat"'
            raise UsageError(msg)
        yield chat


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
    turns = tuple(PlainTurn(str(message["id"]), message["role"], said(message)) for message in messages)
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
