"""A turn as bots publish it, and what a space and a moment look like."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal
from uuid import uuid4

from anabranch_client.errors import WrongUse

_PART: Final = r"[A-Za-z0-9][A-Za-z0-9._@:+=~-]{0,199}"
_SPACE: Final = re.compile(rf"({_PART})/({_PART})")
_ID: Final = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,256}")
_REVISIONS: Final = 2**31

Role = Literal["user", "agent", "system"]


def check_space(space: str) -> str:
    """Return ``space`` if it is written ``tenant/space``.

    Raises:
        WrongUse: if it is not.
    """
    if not _SPACE.fullmatch(space):
        msg = (
            "a space is written tenant/space, each of 1 to 200 letters, digits or ._@:+=~- and beginning with a letter "
            f"or digit; got {space[:80]!r}"
        )
        raise WrongUse(msg)
    return space


def check_id(name: str, value: str) -> str:
    """Return ``value`` if it can be an id.

    Raises:
        WrongUse: if it can't; the message calls it ``name``.
    """
    if not _ID.fullmatch(value):
        msg = f"{name} is 1 to 256 characters, none of them a control character or half of a pair; got {value[:80]!r}"
        raise WrongUse(msg)
    return value


def written(name: str, at: datetime) -> str:
    """Return a moment in ISO 8601 with its offset.

    Raises:
        WrongUse: if it has no offset.
    """
    offset = at.utcoffset()
    if offset is None:
        msg = (
            f"{name} needs an offset from UTC, and {at.isoformat()} has none: use datetime.now().astimezone(), "
            "or give it a tzinfo"
        )
        raise WrongUse(msg)
    if not offset or offset.total_seconds() % 60:  # local mean times of old years have seconds, which no parser takes
        return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return at.isoformat()


@dataclass(frozen=True, slots=True)
class Speaker:
    """A participant. ``name`` is how others call them."""

    id: str
    name: str | None = None
    role: Role = "user"

    def __post_init__(self) -> None:
        """Check the id."""
        check_id("a speaker's id", self.id)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A picture or file. Its caption is text of the turn."""

    caption: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance of one participant.

    ``turn_id`` is the idempotency key inside the space; where none is given it is made here, so that a turn keeps it
    however often it is sent. ``at`` is when it was said, with an offset from UTC. ``revision`` rises when the text of a
    turn is replaced.

    Raises:
        WrongUse: if an id or the revision can't be one, or ``at`` has no offset.
    """

    speaker: Speaker
    text: str
    at: datetime
    turn_id: str = field(default_factory=lambda: str(uuid4()))
    reply_to: str | None = None
    session: str | None = None
    attachments: tuple[Attachment, ...] = ()
    revision: int = 0

    def __post_init__(self) -> None:
        """Check what every gateway and every reader of the log would refuse."""
        check_id("turn_id", self.turn_id)
        if self.reply_to is not None:
            check_id("reply_to", self.reply_to)
        if not 0 <= self.revision < _REVISIONS:
            msg = f"the revision of turn {self.turn_id} is 0 to 2147483647; got {self.revision}"
            raise WrongUse(msg)
        written(f"`at` of turn {self.turn_id}", self.at)

    @property
    def token(self) -> str:
        """What names this turn, and no other revision of it, to a recall (``after``)."""
        return self.turn_id if self.revision == 0 else f"{self.turn_id}@{self.revision}"


def encode(space: str, turn: Turn) -> bytes:
    """Return a turn as it lies in the log: JSON in UTF-8, without halves of surrogate pairs, which no text may have."""
    text = json.dumps(_record(space, turn), ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore").encode()


def _record(space: str, turn: Turn) -> dict[str, Any]:
    """Return the turn's members in the order of the schema; what has its default is left out."""
    record: dict[str, Any] = {
        "space": space,
        "turn_id": turn.turn_id,
        "speaker": _given(id=turn.speaker.id, name=turn.speaker.name, role=turn.speaker.role),
        "text": turn.text,
        "at": written("at", turn.at),
    }
    attachments = [_given(caption=one.caption, url=one.url) for one in turn.attachments]
    optional = _given(reply_to=turn.reply_to, session=turn.session, attachments=attachments or None)
    return record | optional | ({"revision": turn.revision} if turn.revision else {})


def _given(**members: object) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}
