"""Passing messages on in a process, where each record is read from its bytes too."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.space import Space
from streams.effects import Inbound
from streams.passing import Passing
from streams.topology import FLOW

_CODECS = {step.source.name: step.source.codec for step in FLOW}


class Comparing(Passing):
    """Counts the messages that it passed on, each one with what its bytes say."""

    compared = 0

    def join(self, topic: str, space: Space, records: Sequence[Inbound]) -> list[Inbound]:
        joined = super().join(topic, space, records)
        for one in joined:
            if one.message is not None:
                assert _CODECS[topic].decode(one.body) == one.message
                self.compared += 1
        return joined
