"""What a server's failure means: it does not answer (ask again), or it refuses (asking again is no use)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from grpc import StatusCode
from grpc.aio import AioRpcError
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from stages.contract import Unavailable

_REFUSALS: Final = frozenset(
    {
        StatusCode.ALREADY_EXISTS,
        StatusCode.FAILED_PRECONDITION,
        StatusCode.INVALID_ARGUMENT,
        StatusCode.NOT_FOUND,
        StatusCode.OUT_OF_RANGE,
        StatusCode.PERMISSION_DENIED,
        StatusCode.UNAUTHENTICATED,
        StatusCode.UNIMPLEMENTED,
    }
)
_TRY_AGAIN: Final = frozenset({408, 429})
_CLIENT_FAULT: Final = range(400, 500)


class Refused(ValueError):  # noqa: N818 - named for what happened, like `Unavailable`
    """The server answered, and will answer the same again."""


@asynccontextmanager
async def answered(url: str, about: str, within_s: float) -> AsyncIterator[None]:
    """Give the calls inside ``within_s`` seconds, and name the server and what it was asked ``about`` when they fail.

    Raises:
        Unavailable: if the server cannot be reached, is too slow, or fails itself.
        Refused: if it refuses the request.
    """
    try:
        async with asyncio.timeout(within_s):
            yield
    except TimeoutError as error:
        msg = f"{about}: the Qdrant server at {url} does not answer within {within_s:g} s"
        raise Unavailable(msg) from error
    except (AioRpcError, ApiException, QdrantException) as error:
        if _is_refusal(error):
            msg = f"{about}: the Qdrant server at {url} refuses: {_reason(error)}"
            raise Refused(msg) from error
        msg = f"{about}: the Qdrant server at {url} does not answer: {_reason(error)}"
        raise Unavailable(msg) from error


def _is_refusal(error: Exception) -> bool:
    match error:
        case AioRpcError():
            return error.code() in _REFUSALS
        case UnexpectedResponse(status_code=int() as status):
            return status in _CLIENT_FAULT and status not in _TRY_AGAIN
        case _:
            return False


def _reason(error: Exception) -> str:
    if isinstance(error, AioRpcError):
        return f"{error.code().name}, {error.details()}"
    return " ".join(str(error).split()) or type(error).__name__
