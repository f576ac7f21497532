"""Dialogues made by rule, for a measurement of bounds without any data: the same seedless talk every time.

Topics come back, people, places and dates are named, questions are answered; nothing in it is a measure of quality.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any, Final

SPEAKERS: Final = 200
"""People of the channel."""

_START: Final = datetime(2024, 1, 8, 9, tzinfo=UTC)
_NAMES: Final = "Mia Ben Ana Tom Zoe Lars Nina Omar Ivy Paul Ruth Sam Tess Uli Vera Yan".split()
_PLACES: Final = "Lisbon Oslo Kyoto Porto Graz Turin Ghent Malmo Leeds Quito Hanoi Cusco".split()
_THINGS: Final = (
    "the garden",
    "my new bike",
    "the kitchen tiles",
    "the night train",
    "our choir",
    "the old laptop",
    "the marathon",
    "the pottery class",
    "the printer driver",
    "the lease",
    "the book club",
    "the bread oven",
)
_DAYS: Final = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_SENTENCES: Final = (
    "I went to {place} with {name} last {day}.",
    "{thing} took {n} hours and I am still not done.",
    "My sister {name} moved to {place} in {year}.",
    "I have started to look at {thing} again.",
    "We will meet {name} on {day} at {n} o'clock.",
    "I don't like {place} as much as I used to.",
    'I read "The House of {place}" in {n} days.',
    "Do you remember what {name} said about {thing}?",
    "Actually, I changed my mind about {thing}.",
    "{name} told me that {thing} costs {n}0 euros.",
    "What did you decide about {thing}?",
    "Thanks, that helps a lot with {thing}!",
    "I work in {place} three days a week.",
    "No, I said {day}, not {day2}.",
)
_RUN: Final = 12
"""Turns that stay with a topic."""


def _pick(options: Sequence[str], *where: object) -> str:
    digest = blake2b(" ".join(map(str, where)).encode(), digest_size=6).digest()
    return options[int.from_bytes(digest, "big") % len(options)]


def _sentence(number: int, part: int = 0) -> str:
    topic = number // _RUN * 5 % 31  # comes back after some hundred turns
    made = _pick(_SENTENCES, number, part, "sentence").format(
        place=_pick(_PLACES, topic, "place"),
        name=_pick(_NAMES, topic, number % 3, "name"),
        thing=_pick(_THINGS, topic, part // 3, "thing"),
        day=_pick(_DAYS, number, part, "day"),
        day2=_pick(_DAYS, number, part, "other day"),
        n=2 + number * 7 % 23,
        year=1990 + number % 34,
    )
    return made[0].upper() + made[1:]


def two_party(count: int) -> Iterator[dict[str, Any]]:
    """Give the turns of two people who write a sentence or two each."""
    for number in range(count):
        name = ("Mia", "Ben")[number % 2]
        text = " ".join(_sentence(number, part) for part in range(1 + number % 3 // 2))
        yield _turn(number, {"id": name.lower(), "name": name, "role": "user"}, text, minutes=1, rest=40)


def with_assistant(count: int) -> Iterator[dict[str, Any]]:
    """Give the turns of a user and an assistant that answers at length, lists included."""
    for number in range(count):
        if number % 2 == 0:
            text = " ".join(_sentence(number, part) for part in range(4))
            yield _turn(number, {"id": "user", "role": "user"}, text, minutes=1, rest=60)
        else:
            steps = "\n".join(f"{step}. {_sentence(number, step)}" for step in range(1, 13))
            prose = " ".join(_sentence(number, 20 + part) for part in range(10))
            text = f"{prose}\n\nThese are the steps:\n\n{steps}\n\n{_sentence(number, 40)}"
            yield _turn(number, {"id": "assistant", "role": "agent"}, text, minutes=1, rest=60)


def channel(count: int) -> Iterator[dict[str, Any]]:
    """Give the turns of a channel: some speak often and most now and then; two in three lines name whom they answer."""
    for number in range(count):
        often = number % 3 > 0
        who = number * 7919 % 16 if often else number * 104_729 % SPEAKERS
        whom = (who + number * 31 % 5) % SPEAKERS
        text = f"{_nick(whom)}: {_sentence(number)}" if often else _sentence(number)
        yield _turn(number, {"id": _nick(who), "role": "user"}, text, minutes=1, rest=0)


def _nick(number: int) -> str:
    return f"{_NAMES[number % len(_NAMES)].lower()}{number:03d}"


def _turn(number: int, speaker: dict[str, Any], text: str, *, minutes: int, rest: int) -> dict[str, Any]:
    """Return a turn; after ``rest`` turns a new session begins a day later (0: there are none)."""
    days = timedelta(days=number // rest) if rest else timedelta()
    at = _START + days + number * timedelta(minutes=minutes)
    turn = {"turn_id": f"t{number}", "speaker": speaker, "text": text, "at": at.isoformat()}
    return turn | ({"session": f"s{number // rest}"} if rest else {})
