"""LoCoMo (Maharana et al. 2024): long two-party conversations in dated sessions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from infra.errors import UsageError
from infra.importers.files import document, files
from infra.importers.turns import Imported, encode, own_space, stamp
from schemas.space import Space

_SESSION: Final = re.compile(r"session_(\d+)")
_DATE: Final = re.compile(
    r"\s*(\d{1,2}):(\d{2})\s*([ap])\.?m\.?\s+on\s+(\d{1,2})\s+([a-z]+),?\s+(\d{4})\s*", re.IGNORECASE
)
_MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_APART: Final = timedelta(minutes=1)


def read_locomo(path: Path) -> Iterator[Imported]:
    """Give the turns of every conversation, sessions by number, a minute apart from the session's date on.

    Raises:
        UsageError: if a file is not such a list, or a session with turns has no readable date.
    """
    for file in files(path, ".json"):
        samples = document(file)
        for sample in samples if isinstance(samples, list) else [samples]:
            yield from _conversation(sample, file)


def _conversation(sample: Any, file: Path) -> Iterator[Imported]:  # noqa: ANN401 - a foreign file
    try:
        space = own_space("locomo", sample["sample_id"], file)
        conversation: Mapping[str, Any] = sample["conversation"]
        numbers = sorted(int(found[1]) for name in conversation if (found := _SESSION.fullmatch(name)))
        for number in numbers:
            turns = conversation[f"session_{number}"]
            if not turns:
                continue  # some sets date sessions that they do not hold
            begin = parse_date(str(conversation.get(f"session_{number}_date_time")))
            for index, turn in enumerate(turns):
                payload = encode(_turn(space, turn, number, begin + index * _APART))
                yield Imported(space, payload, f"{file}: {turn['dia_id']}")
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        msg = f"{file} is not of LoCoMo's shape: {type(error).__name__}: {error}"
        raise UsageError(msg) from error


def _turn(space: Space, turn: Mapping[str, Any], session: int, at: datetime) -> dict[str, Any]:
    speaker = turn["speaker"]
    made = {
        "space": space,
        "turn_id": turn["dia_id"],
        "speaker": {"id": speaker, "name": speaker, "role": "user"},
        "text": turn.get("text") or "",
        "at": stamp(at),
        "session": str(session),
    }
    picture = _picture(turn)
    return made | {"attachments": [picture]} if picture else made


def _picture(turn: Mapping[str, Any]) -> dict[str, str]:
    """Return caption and address; the query that the generator searched with was never part of the dialogue."""
    urls = turn.get("img_url") or ()
    url = urls if isinstance(urls, str) else next(iter(urls), None)
    return {name: text for name, text in (("caption", turn.get("blip_caption")), ("url", url)) if text}


def parse_date(text: str) -> datetime:
    """Return the time of "1:56 pm on 8 May, 2023", taken as UTC.

    Raises:
        ValueError: if the text has another form.
    """
    found = _DATE.fullmatch(text)
    if not found or found[5][:3].lower() not in _MONTHS:
        msg = f"a session's date is written like '1:56 pm on 8 May, 2023'; got {text!r}"
        raise ValueError(msg)
    hour = int(found[1]) % 12 + (12 if found[3].lower() == "p" else 0)
    month = _MONTHS.index(found[5][:3].lower()) + 1
    return datetime(int(found[6]), month, int(found[4]), hour, int(found[2]), tzinfo=UTC)
