"""Client of the Anabranch gateway: publish dialogue turns, recall cited evidence. See the README for its use."""

from anabranch_client.aio import AsyncClient
from anabranch_client.aio_batching import AsyncBatching
from anabranch_client.answers import (
    Accepted,
    Answer,
    Bundle,
    Citation,
    Hit,
    Line,
    Placement,
    Recalled,
    RunnerUp,
    Step,
    TurnState,
)
from anabranch_client.asking import Latest
from anabranch_client.batching import Batching
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
    "Answer",
    "AsyncBatching",
    "AsyncClient",
    "Attachment",
    "Batching",
    "Bundle",
    "Citation",
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
    "Step",
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
