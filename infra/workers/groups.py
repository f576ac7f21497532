"""Which workers there are: the members of the stages' consumer groups, and what each says of itself."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import Any, Final

from kafka import KafkaAdminClient
from kafka.errors import KafkaError

from infra.errors import MissingError

_REACH_MS: Final = 10_000
_ANSWER_S: Final = 5.0
_LOOK_S: Final = 0.2
_now = time.monotonic  # noqa: TID251 - how long to wait for a cluster is no event's time
_NAME: Final = re.compile(r"anabranch-(?P<stage>\w+)-(?P<number>\d+)@(?P<host>[\w.:-]+):(?P<port>\d+)")


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a stage's group by its client id, with the number of partitions that it has."""

    stage: str
    client: str
    partitions: int

    @property
    def number(self) -> int | None:
        """The worker's number, if it is a worker."""
        found = _NAME.fullmatch(self.client)
        return int(found["number"]) if found else None

    @property
    def address(self) -> tuple[str, int] | None:
        """Where its pages are, if its client id says so."""
        found = _NAME.fullmatch(self.client)
        return (found["host"], int(found["port"])) if found else None


@contextmanager
def _admin(bootstrap: str) -> Iterator[Any]:
    try:
        admin = KafkaAdminClient(bootstrap_servers=bootstrap, bootstrap_timeout_ms=_REACH_MS)
        try:
            yield admin
        finally:
            admin.close()
    except (KafkaError, ValueError) as error:
        msg = f"no Kafka answers at {bootstrap} ({error}): start one with `anabranch kafka up`, or see ANABRANCH_KAFKA"
        raise MissingError(msg) from error


def members(bootstrap: str, groups: Sequence[tuple[str, str]]) -> list[Member]:
    """Return the members of the groups of stages, each given as (stage, group).

    Raises:
        MissingError: if no broker answers, or it refuses.
    """
    with _admin(bootstrap) as admin:
        described = _patiently(lambda: admin.describe_groups([group for _, group in groups]))
    return [
        Member(stage, member["client_id"], _partitions(member))
        for stage, group in groups
        for member in sorted((described.get(group) or {}).get("members", ()), key=lambda one: str(one["client_id"]))
    ]


def _patiently(ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Ask again for a while: a cluster that is new makes its group coordinator at the first question."""
    end = _now() + _REACH_MS / 1000
    while True:
        try:
            return ask()
        except KafkaError as error:
            if not error.retriable or _now() > end:
                raise
        time.sleep(_LOOK_S)


def _partitions(member: dict[str, Any]) -> int:
    assignment = member.get("member_assignment")
    if not isinstance(assignment, dict):  # nothing is assigned yet
        return 0
    return sum(len(topic["partitions"]) for topic in assignment.get("assigned_partitions") or ())


def statuses(found: Sequence[Member]) -> list[dict[str, Any] | None]:
    """Return what each member's status page says, ``None`` where it does not answer; all are asked at once."""
    if not found:
        return []
    with ThreadPoolExecutor(max_workers=min(16, len(found))) as pool:
        return list(pool.map(_status, found))


def _status(member: Member) -> dict[str, Any] | None:
    if member.address is None:
        return None
    connection = HTTPConnection(*member.address, timeout=_ANSWER_S)
    try:
        connection.request("GET", "/status")
        said: dict[str, Any] = json.loads(connection.getresponse().read())
    except (OSError, HTTPException, ValueError):
        return None
    finally:
        connection.close()
    return said if (said.get("stage"), said.get("worker")) == (member.stage, member.number) else None
