"""Errors of the client, as a small tree.

::

    AnabranchError
    ├── WrongUse        what was given can be no turn, space or time; nothing was sent. Also a ``ValueError``
    ├── Refused         the gateway answered 4xx: the same request would be refused again
    │   ├── NotAuthorized   401, 403: no key, or one that is unknown or revoked
    │   ├── NotFound        404: no such space for this key, or no such turn
    │   ├── Invalid         400, 422: the problem names the turn and the field
    │   └── TooMuch         413: too large; 429: still too many requests after all tries. The log may have some of it
    ├── Unavailable     no usable answer after all tries; the same request may be made again
    │   ├── Unreachable     nobody answers there, or the connection broke
    │   └── TimedOut        no answer in time
    └── Unexpected      an answer that no gateway gives; is the address right?

Each says to which space and turns it happened and what to do. Publishing again *with the same turn ids* is always safe.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

_NAMED: Final = 5
"""Turn ids in a message; all of them are in ``turn_ids``."""


@dataclass(frozen=True, slots=True)
class About:
    """What a request was about: for messages, and for whoever catches the error."""

    doing: str
    space: str
    turn_ids: tuple[str, ...] = ()
    request_id: str = ""

    def __str__(self) -> str:
        """Return it as the beginning of a message."""
        named = ", ".join(self.turn_ids[:_NAMED])
        more = f" and {len(self.turn_ids) - _NAMED} more" if len(self.turn_ids) > _NAMED else ""
        turns = f" (turns {named}{more})" if named else ""
        return f"{self.doing} {self.space}{turns}"


class AnabranchError(Exception):
    """What can go wrong with a request.

    ``accepted`` are the ids of turns of the same call that the log has: those of the parts before the one that failed.
    """

    def __init__(self, message: str, about: About | None = None) -> None:
        super().__init__(message)
        self.about = about
        self.accepted: tuple[str, ...] = ()

    @property
    def space(self) -> str | None:
        """The space it happened to."""
        return None if self.about is None else self.about.space

    @property
    def turn_ids(self) -> tuple[str, ...]:
        """The turns of the request that failed."""
        return () if self.about is None else self.about.turn_ids


class WrongUse(AnabranchError, ValueError):  # noqa: N818 - named for the condition, as all below
    """What was given can be no turn, space or time. Nothing was sent."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What a gateway said (problem+json, RFC 9457). ``fields`` are all its members, of a newer gateway too."""

    status: int
    title: str
    detail: str | None
    fields: Mapping[str, Any]
    retry_after_s: float | None = None


class Refused(AnabranchError):  # noqa: N818
    """The gateway refused the request: the same one would be refused again."""

    advice = "correct the request"

    def __init__(self, about: About, problem: Problem) -> None:
        said = problem.title if problem.detail is None else f"{problem.title}: {problem.detail}"
        super().__init__(f"{about}: refused with {problem.status}, {said}; {self.advice}", about)
        self.problem = problem
        self.status = problem.status


class NotAuthorized(Refused):
    """No key, or one that is unknown or revoked."""

    advice = "give a key of the space's tenant (`anabranch keys create`)"


class NotFound(Refused):
    """No such space for this key, or no such turn."""

    advice = "check the space, the turn id and the key's tenant"


class Invalid(Refused):
    """A turn or a parameter is wrong. None of the request's turns was taken."""

    advice = "correct what the problem names"


class TooMuch(Refused):
    """Too large (413), or too many requests although all tries waited as long as they were told (429).

    It is no word on what an earlier try left in the log, nor on turns of the same request: those in ``accepted`` are
    there, and others may be.
    """

    advice = "send less at once, or later; the log may have some of it, so keep the turn ids"


class Unavailable(AnabranchError):  # noqa: N818
    """No usable answer after all tries.

    ``is_maybe_taken`` says that a request may have arrived, with only its answer lost.
    """

    def __init__(self, about: About, what: str, *, is_maybe_taken: bool) -> None:
        maybe = "it may have been taken: " if is_maybe_taken and about.turn_ids else ""
        again = "publish again with the same turn ids" if about.turn_ids else "ask again later"
        super().__init__(f"{about}: {what}; {maybe}{again}", about)
        self.is_maybe_taken = is_maybe_taken


class Unreachable(Unavailable):
    """Nobody answers there, or the connection broke."""


class TimedOut(Unavailable):
    """No answer in time."""


class Unexpected(AnabranchError):  # noqa: N818
    """An answer that no gateway gives: another program may be listening there."""

    def __init__(self, about: About, what: str) -> None:
        super().__init__(f"{about}: {what}; check the address, and what stands between here and the gateway", about)


_KINDS: Final[Mapping[int, type[Refused]]] = {
    400: Invalid,
    401: NotAuthorized,
    403: NotAuthorized,
    404: NotFound,
    413: TooMuch,
    422: Invalid,
    429: TooMuch,
}


def refusal(about: About, problem: Problem) -> Refused:
    """Return the error for a 4xx."""
    return _KINDS.get(problem.status, Refused)(about, problem)


def with_accepted(error: AnabranchError, accepted: Sequence[str]) -> AnabranchError:
    """Note on an error which turns of the same call were accepted before it."""
    error.accepted = (*accepted, *error.accepted)
    if accepted:
        error.add_note(f"{len(accepted)} turns of this call were accepted before; `accepted` has their ids")
    return error
