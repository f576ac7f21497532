"""The memory that the embedded mode makes of the same turns."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from infra.bootstrap import open_memory
from infra.settings import Settings
from schemas.memory import row_key
from schemas.space import Space
from streams.codec import canonical


async def embedded_memory(
    settings: Settings, events: Iterable[tuple[Space, bytes]]
) -> Mapping[str, Mapping[str, bytes]]:
    """Return each space's rows by key, as canonical bytes."""
    with tempfile.TemporaryDirectory(prefix="anabranch-") as folder:
        alone = settings.embedded(Path(folder))
        async with open_memory(alone, wait=False) as memory:
            spaces: dict[Space, list[bytes]] = {}
            for space, body in events:
                spaces.setdefault(space, []).append(body)
            for space, bodies in spaces.items():
                await memory.publish(space, bodies)
            await memory.run()
            return {space: {row_key(row): canonical(row).encode() for row in memory.rows(space)} for space in spaces}
