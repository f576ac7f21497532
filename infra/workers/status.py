"""The state of all workers, a row each: what ``anabranch worker status`` shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from infra.workers.groups import Member, members, statuses
from streams.kafka.names import group_of
from streams.topology import FLOW

COLUMNS: Final = ("stage", "worker", "partitions", "lag", "handled_per_s", "waits_for", "stopped")


def rows(bootstrap: str, generation: int) -> Iterator[dict[str, Any]]:
    """Give a row for each worker of a generation in the order of the flow, and one for each stage that has none.

    Raises:
        MissingError: if no broker answers.
    """
    stages = [step.name for step in FLOW]
    found = members(bootstrap, [(stage, group_of(stage, generation)) for stage in stages])
    said = dict(zip(found, statuses(found), strict=True))
    for stage in stages:
        own = [member for member in found if member.stage == stage]
        yield from (_row(member, said[member]) for member in own)
        if not own:
            yield _empty(stage) | {"waits_for": [f"no worker runs: start one with `anabranch worker {stage}`"]}


def _empty(stage: str) -> dict[str, Any]:
    return {
        "stage": stage,
        "worker": None,
        "address": None,
        "pid": None,
        "partitions": 0,
        "lag": None,
        "handled_per_s": None,
        "oldest_s": None,
        "waits_for": [],
        "stopped": {},
        "unwell": None,
        "restarts": {},
    }


def _row(member: Member, said: dict[str, Any] | None) -> dict[str, Any]:
    host, port = member.address or (None, None)
    who = {"worker": member.number, "partitions": member.partitions, "address": f"{host}:{port}" if host else None}
    row = _empty(member.stage) | who
    if said is None:
        return row | {"unwell": "its pages do not answer", "waits_for": [f"{member.client} does not answer"]}
    partitions = said["partitions"]
    lags = [one["lag"] for one in partitions if one["stopped"] is None or one["lag"] is not None]
    ages = [one["oldest_s"] for one in partitions if one["oldest_s"] is not None]
    return row | {
        "pid": said["pid"],
        "partitions": len(partitions),
        "lag": None if None in lags else sum(lags),
        "handled_per_s": said["rates"]["handled_per_s"],
        "oldest_s": max(ages, default=None),
        "waits_for": said["waits_for"],
        "stopped": {str(one["partition"]): one["stopped"] for one in partitions if one["stopped"]},
        "unwell": said["unwell"],
        "restarts": said["restarts"],
    }
