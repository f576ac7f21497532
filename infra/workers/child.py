"""What a supervisor and the worker that it starts say to each other, and the cluster that both need."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from infra.errors import UsageError
from infra.settings import Settings


@dataclass(frozen=True, slots=True)
class Child:
    """What a supervisor says to a worker: its number, the port of its pages (0: a free one), its restarts by cause.

    It holds the worker's standard input, and hears on its standard output when it works.
    """

    number: int = 0
    port: int = 0
    restarts: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> Child:
        """Read what ``told`` wrote."""
        return cls(**json.loads(text))

    def told(self) -> str:
        """Return it as one argument of a command line."""
        return json.dumps(asdict(self))


def servers_of(settings: Settings) -> str:
    """Return the brokers that the settings name.

    Raises:
        UsageError: if they name none.
    """
    if settings.kafka is None:
        msg = "workers run on Kafka: name its servers in ANABRANCH_KAFKA, or start one with `anabranch kafka up`"
        raise UsageError(msg)
    return settings.kafka
