"""Client of the Anabranch gateway: publish dialogue turns, recall cited evidence. See the README for its use."""

from anabranch_client.aio import AsyncClient
from anabranch_client.aio_batching import AsyncBatching
from anabranch_client.answers import Accepted, Bundle, Hit, Line, Placement, Recalled, RunnerUp, TurnState
from anabranch_client.batching import Batching
from anabranch_client.calls import Latest
from anabranch_client.client import Client
from anabranch_client.errors import (
    AnabranchError,
    Invalid,
    NotAuthorized,
    NotFound,
    Problem,
    Refused,
    TimedOut,
    TooMuch,
    Unavailable,
    Unexpected,
    Unreachable,
    WrongUse,
)
from anabranch_client.retries import Retries, Timeouts
from anabranch_client.turns import Attachment, Role, Speaker, Turn

__all__ = [
    "Accepted",
    "AnabranchError",
    "AsyncBatching",
    "AsyncClient",
    "Attachment",
    "Batching",
    "Bundle",
    "Client",
    "Hit",
    "Invalid",
    "Latest",
    "Line",
    "NotAuthorized",
    "NotFound",
    "Placement",
    "Problem",
    "Recalled",
    "Refused",
    "Retries",
    "Role",
    "RunnerUp",
    "Speaker",
    "TimedOut",
    "Timeouts",
    "TooMuch",
    "Turn",
    "TurnState",
    "Unavailable",
    "Unexpected",
    "Unreachable",
    "WrongUse",
]
