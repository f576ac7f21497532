"""How a gateway is asked: what may be said with a question, and what is left to it."""

from __future__ import annotations

from datetime import datetime
from enum import Enum
from typing import TypedDict

from anabranch_client.answers import Accepted


class Latest(Enum):
    """The token of the client's own last write to the space, if it has one."""

    WRITE = "the client's own last write"


class Asking(TypedDict, total=False):
    """How a question is asked. All of it may be left out.

    ``k`` is the number of distinct evidence turns (10), ``asker`` who asks ("my sister" is theirs), ``asked_at`` when
    ("last month" is before it), ``for_turn`` the turn that asks, which is no evidence for itself. ``as_of`` asks for
    what was known then: ``turn:ID``, ``time:T`` or ``position:N``. ``after`` is what has to be in memory: the answer to
    a publish, a token, or ``None`` for nothing; left out, it is the client's own last write to the space.
    """

    k: int
    asker: str | None
    asked_at: datetime | None
    for_turn: str | None
    as_of: str | None
    after: Accepted | str | Latest | None


class Answering(TypedDict, total=False):
    """How a question is to be answered. All of it may be left out.

    ``asker``, ``asked_at``, ``for_turn``, ``as_of`` and ``after`` as for a recall. ``budget`` (tokens of evidence in a
    request to the model), ``requests`` and ``seconds`` bound what an answer costs, below what the gateway allows;
    ``trace`` asks for the steps.
    """

    asker: str | None
    asked_at: datetime | None
    for_turn: str | None
    as_of: str | None
    after: Accepted | str | Latest | None
    budget: int | None
    requests: int | None
    seconds: float | None
    trace: bool


class ContextOptions(TypedDict, total=False):
    """Who says the text and when, and how many tokens the bundle may have (the gateway's own choice, if left out)."""

    speaker: str | None
    at: datetime | None
    budget: int
