"""Messages on their way from one stage to the next in one process: the next need not read them from their JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from schemas.space import Space
from streams.effects import Cut, Inbound

_MOST: Final = 4096
"""Messages kept at once, some 10 KB each; those beyond it are read as they were written."""


class Passing:
    """What stages have written and others will read. A message is one with the bytes of its record, and frozen."""

    def __init__(self) -> None:
        self._messages: dict[tuple[str, Space, int], object] = {}

    def keep(self, topic: str, cut: Cut) -> None:
        """Keep the messages of a cut that is durable."""
        for output in cut.outputs:
            if output.message is not None and len(self._messages) < _MOST:
                self._messages[topic, cut.space, output.header.position] = output.message

    def join(self, topic: str, space: Space, records: Sequence[Inbound]) -> list[Inbound]:
        """Give records their messages, each once: a record that is read again is read from its bytes."""
        return [self._joined(topic, space, record) for record in records]

    def _joined(self, topic: str, space: Space, record: Inbound) -> Inbound:
        at = -1 if record.header is None else record.header.position
        message = self._messages.pop((topic, space, at), None)
        return record if message is None else replace(record, message=message)

    def clear(self) -> None:
        """Forget what was not read."""
        self._messages.clear()
