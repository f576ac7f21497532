"""The dialogues whose bounds are measured: as many turns of one space as are asked for."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

from infra.bench import bounds_talk
from infra.bench.irc_run import unpacked
from infra.importers import Format, Imported, read
from infra.importers.turns import encode, stamp
from schemas.space import Space

_APART = timedelta(days=1)
"""Between two conversations that are put one after the other."""

_ROUND = 2250
"""Turns of a dialogue before it begins again: a quarter of 9,000, so that the turns told before the readings at 1,000
and at 10,000 turns are the same ones. What else they take is the space's doing, not theirs."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Turns of one space, as payloads without it; ``source`` says where they are from and what was done to them."""

    name: str
    turns: tuple[dict[str, Any], ...]
    source: str

    @property
    def space(self) -> Space:
        """The space that they are told in."""
        return Space(f"bounds/{self.name}")

    @property
    def speakers(self) -> int:
        """How many people speak."""
        return len({turn["speaker"]["id"] for turn in self.turns})

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits of all its turns: whether two runs measured the same."""
        return blake2b(json.dumps(self.turns, sort_keys=True).encode(), digest_size=4).hexdigest()

    def events(self, first: int, end: int, space: Space | None = None) -> Iterator[Imported]:
        """Give the turns from number ``first`` on, before ``end``.

        What is there is repeated in order, with new ids, later times and the number of the round behind the text, so
        that no cache knows it.
        """
        space = space or self.space
        span = _at(self.turns[-1]) - _at(self.turns[0]) + _APART
        for number in range(first, end):
            again, at = divmod(number, len(self.turns))
            turn = {**self.turns[at], "space": space}
            if again:
                turn["turn_id"] = f"{turn['turn_id']}+{again}"
                turn["text"] = f"{turn['text']} ({again + 1})"
                turn["at"] = stamp(_at(turn) + again * span)
            yield Imported(space, encode(turn), f"{self.name}:{number}")


def dialogues(turns: int, locomo: Path | None, beam: Path | None, irc: Path | None) -> list[Dialogue]:
    """Return the three dialogues: of the data where there is a path, else made by rule."""
    return [_two_party(turns, locomo), _with_assistant(turns, beam), _channel(turns, irc)]


def _two_party(turns: int, path: Path | None) -> Dialogue:
    if path is None:
        return Dialogue("two-party", tuple(bounds_talk.two_party(turns)), "made by rule")
    return _strung("two-party", read(path, Format.LOCOMO), f"LoCoMo, {path.name}", turns, pair=True)


def _with_assistant(turns: int, path: Path | None) -> Dialogue:
    if path is None:
        return Dialogue("assistant", tuple(bounds_talk.with_assistant(turns)), "made by rule")
    return _strung("assistant", read(path, Format.BEAM), f"BEAM, {path.name}", turns)


def _channel(turns: int, path: Path | None) -> Dialogue:
    if path is None:
        return Dialogue("channel", tuple(bounds_talk.channel(turns)), "made by rule")
    with unpacked(path) as folder:
        return _strung("channel", _of_each(read(folder, Format.IRC)), f"Ubuntu IRC, {path.name}", turns)


def _of_each(events: Iterable[Imported]) -> Iterator[Imported]:
    """Give the first turns of every conversation, as many of each: people of one log alone are too few."""
    by_space: dict[Space, list[Imported]] = defaultdict(list)
    for event in events:
        by_space[event.space_key].append(event)
    for told in by_space.values():
        yield from told[: -(-_ROUND // len(by_space))]


def _strung(name: str, events: Iterable[Imported], source: str, wanted: int, *, pair: bool = False) -> Dialogue:
    """Return conversations one after the other as one; with ``pair`` all are between the first one's two speakers."""
    made: list[dict[str, Any]] = []
    spaces: dict[Space, dict[str, Any]] = {}
    pairs: list[dict[str, Any]] = []
    later = timedelta()
    for event in islice(events, _ROUND):
        turn = json.loads(event.payload)
        if event.space_key not in spaces:
            spaces[event.space_key] = {}
            later = max(timedelta(), _at(made[-1]) + _APART - _at(turn)) if made else timedelta()
        roles = spaces[event.space_key]
        spoken = roles.setdefault(turn["speaker"]["id"], turn["speaker"])
        if pair:
            place = list(roles).index(spoken["id"]) % 2
            pairs += [spoken] if len(pairs) <= place else []
            spoken = pairs[place]
        number = len(spaces)
        made.append(
            {
                **turn,
                "turn_id": f"{number}:{turn['turn_id']}",
                "speaker": spoken,
                "at": stamp(_at(turn) + later),
                **({"session": f"{number}:{turn['session']}"} if "session" in turn else {}),
            }
        )
    rounds = -(-wanted // len(made))
    told = f"{source}: {len(made)} turns of {len(spaces)} conversations, one after the other"
    times = f", repeated in order, up to {rounds} times" if rounds > 1 else ""
    return Dialogue(name, tuple(made), told + times)


def _at(turn: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(turn["at"])
