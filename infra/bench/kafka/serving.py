"""Which workers serve: those that have partitions of their stage, all of them read, as their own pages say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from infra.bench.kafka.starting import Process
from infra.errors import MissingError
from infra.workers.groups import members, statuses
from streams.kafka.names import group_of
from streams.topology import FLOW

Name = tuple[str, int]
"""A worker: its stage and its number."""


def pages(bootstrap: str, workers: Mapping[Name, Process]) -> dict[Name, dict[str, Any]]:
    """Return what the workers' status pages say; of nobody while the broker is away.

    A page counts as a worker's if its process answers: a group remembers the dead until their session is over.
    """
    try:
        found = members(bootstrap, [(step.name, group_of(step.name)) for step in FLOW])
    except MissingError:
        return {}
    said = [page for page in statuses(found) if page is not None]
    named = {(page["stage"], page["worker"]): page for page in said}
    return {name: page for name, page in named.items() if name in workers and workers[name].pid == page["pid"]}


def serving(bootstrap: str, workers: Mapping[Name, Process]) -> dict[Name, int]:
    """Return the workers that serve, with how many partitions each has."""
    said = {name: page["partitions"] for name, page in pages(bootstrap, workers).items()}
    return {name: len(ours) for name, ours in said.items() if ours and all(one["ready"] for one in ours)}
