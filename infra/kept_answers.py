"""The answers of models that are kept of a space, as they came: what an operator looks at when they are of no use."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

from infra.home import read_only
from infra.language_models import RESULTS
from infra.settings import Settings
from schemas.model_result import ModelResult
from schemas.space import Space
from streams.results import read_result


async def kept_answers(settings: Settings, space: Space) -> AsyncIterator[ModelResult]:
    """Give them in the order in which they were kept; nothing is changed, and no home is taken.

    Raises:
        Unavailable: if the broker does not answer, or another version wrote one.
    """
    if settings.kafka is None:
        for body in _in_a_home(settings.home / RESULTS, space):
            yield read_result(space, body)
        return
    from infra.kafka.topics import LOG_PARTITIONS  # noqa: PLC0415 - the embedded mode must not load the client
    from streams.kafka.log import Log  # noqa: PLC0415
    from streams.kafka.names import RESULTS as TOPIC  # noqa: PLC0415
    from streams.kafka.wire import partition_of  # noqa: PLC0415

    known: set[bytes] = set()
    async for record in Log(settings.kafka).read(TOPIC, partition_of(space, LOG_PARTITIONS)):
        key = record.key or b""
        if key.startswith(f"{space} ".encode()) and key not in known:
            known.add(key)  # the first of a key stands
            yield read_result(space, record.value or b"")


def _in_a_home(path: Path, space: Space) -> list[bytes]:
    if not path.is_file():
        return []
    with read_only(path) as database:
        rows = database.execute("SELECT body FROM results WHERE space = ? ORDER BY rowid", (space,)).fetchall()
    return [body for (body,) in rows]
