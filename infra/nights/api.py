"""What a run of consolidation is asked for, what it stands on, and what it tells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Protocol

from infra.errors import AnabranchError, UsageError
from infra.memory_api import Progress
from schemas.consolidation import Decision
from schemas.memory import Row
from schemas.space import Space
from stages.consolidate import Apart, Live, Plan

Report = Callable[[Progress], None]

MOST: Final = 500
"""Records of a space that a run retires at most: a fault of what decides costs that much until somebody looks in the
morning, and `undo` brings it back. A space of daily use has some tens of duplicates a night; an import takes a few."""

IDLE: Final = timedelta(hours=24)
"""A space in which nobody spoke for so long has its working memory routed."""


class RunBusy(AnabranchError):  # noqa: N818 - named for the condition, like `Unavailable`
    """Another process consolidates the tenant."""

    exit_code = 1


class NoSuchRun(UsageError):  # noqa: N818 - named for the condition, like `Unavailable`
    """No record of the run stands."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked for: spaces (of a tenant, one, or all), and bounds.

    ``among``: no others than these. ``since``: only spaces whose newest turn was said at or after it. ``most``: records
    that a space may lose. ``dry``: decide, and publish nothing.
    """

    tenant: str | None = None
    space: Space | None = None
    since: datetime | None = None
    most: int = MOST
    idle: timedelta = IDLE
    dry: bool = False
    among: frozenset[Space] | None = None

    @property
    def is_whole(self) -> bool:
        """Whether all spaces of a tenant are asked for."""
        return self.space is None and self.since is None and self.among is None

    def names(self, space: Space) -> bool:
        """Tell whether a space is asked for."""
        is_among = self.among is None or space in self.among
        return is_among and self.space in {None, space} and self.tenant in {None, space.tenant}


@dataclass(frozen=True, slots=True)
class Look:
    """Memory at one moment: up to which position each space is there, and its rows; edges may be left out."""

    reached: Mapping[Space, int]
    rows: Callable[[Space], Iterable[Row]]


class Decider(Protocol):
    """Decides what a night makes of a space; see ``stages.consolidate.Consolidate``."""

    async def merges(self, space: Space, live: Sequence[Live], most: int) -> Plan:
        """Return which records fewer ones stand for; at most ``most`` are retired."""
        ...

    async def themes(self, space: Space, live: Sequence[Live]) -> Plan:
        """Return topics and personas."""
        ...


class Held(Protocol):
    """A tenant that this process alone consolidates."""

    async def must_hold(self) -> None:
        """See that it still is so.

        Raises:
            RunBusy: if another process has taken it over since.
        """
        ...

    async def succeeded(self, at: datetime) -> None:
        """Note when a run over the whole tenant began that has ended well."""
        ...


class Ground(Protocol):
    """What a run stands on."""

    async def look(self) -> Look:
        """Return memory as it is now."""
        ...

    async def caught_up(self, spaces: Sequence[Space]) -> None:
        """Wait a while until what is in the log of these spaces has its outcome.

        What a run that was killed has published is then seen by the next one.
        """
        ...

    async def publish(self, space: Space, event_ids: Sequence[str], payloads: Sequence[bytes]) -> None:
        """Append control events of the system's own to a space's log."""
        ...

    async def settled(self) -> None:
        """Return once all that was published has its outcome, and ``look`` shows it."""
        ...

    def held(self, tenant: str) -> AbstractAsyncContextManager[Held]:
        """Consolidate a tenant alone inside the block.

        Raises:
            RunBusy: if another process does; the message names it.
        """
        ...

    async def decider(self) -> Decider:
        """Return what decides, with the stages' own models; they are loaded when it is first asked for."""
        ...


@dataclass(slots=True)
class Told:
    """What became of a space. ``stale``: decisions that route refused, since what they rest on had changed."""

    space: Space
    run: str
    decisions: list[Decision] = field(default_factory=list)
    apart: list[Apart] = field(default_factory=list)
    stale: list[Decision] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    drained: bool = False
    degraded: int = 0
    left: int = 0
    events: int = 0
