"""``doctor`` on consolidation: when the last run over each tenant was that ended well."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from infra.cli import output
from infra.cli.checks import Check, Verdict
from infra.errors import AnabranchError
from infra.home import LOG, read_only
from infra.reindex.pointer import current_folder
from infra.settings import Settings

LATE: Final = timedelta(hours=36)
"""A night was missed: the alert `AnabranchNoConsolidation` says the same."""

_now = datetime.now  # noqa: TID251 - the age of a run
_SUCCESS: Final = "consolidated "
"""As ``infra.nights.embedded.SUCCESS``: importing that would load the index."""


async def nights(settings: Settings) -> Check:
    """Look when each tenant was last consolidated; nothing is wrong where none ever was."""
    try:
        last = _in_a_home(settings) if settings.kafka is None else await _on_kafka(settings.kafka, settings.generation)
    except (AnabranchError, sqlite3.Error) as error:
        return Check("nights", Verdict.ODD, f"when consolidations were cannot be told: {error}")
    return judged(last, _now(UTC))


def judged(last: Mapping[str, datetime], now: datetime) -> Check:
    """Return the check for when the last good run over each tenant began."""
    if not last:
        return Check("nights", Verdict.FINE, "no consolidation yet; `anabranch consolidate` is for cron")
    tenant, at = min(last.items(), key=lambda one: one[1])
    hours = output.counted(round((now - at) / timedelta(hours=1)), "hour")
    found = f"{output.counted(len(last), 'tenant')}; {tenant} was last consolidated {hours} ago"
    if now - at > LATE:
        advice = f"run `anabranch consolidate --tenant {tenant}`, and see whether cron still does"
        return Check("nights", Verdict.ODD, found, advice)
    return Check("nights", Verdict.FINE, found)


def _in_a_home(settings: Settings) -> dict[str, datetime]:
    log = current_folder(settings.home) / LOG
    if not log.is_file():
        return {}
    with read_only(log) as database:
        found = database.execute("SELECT name, value FROM meta WHERE name GLOB ?", (f"{_SUCCESS}*",)).fetchall()
    return {name.removeprefix(_SUCCESS): datetime.fromisoformat(at) for name, at in found}


async def _on_kafka(servers: str, generation: int) -> dict[str, datetime]:
    from infra.nights.ownership import successes  # noqa: PLC0415 - the embedded mode must not load the client

    return await successes(servers, generation)
