"""What a supervisor and the worker that it starts say to each other, and what both need before anything starts."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from infra.errors import HomeUnusable, MissingError, UsageError
from infra.settings import Settings
from streams.kafka.names import topic_name

_CLIENTS: Final = ("faust", "aiokafka", "qdrant_client")
"""What a worker is made of and the embedded mode is not."""


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


def folder_of(settings: Settings) -> Path:
    """Return the folder of this home's workers, made if it is not there.

    Raises:
        HomeUnusable: if it cannot be made.
    """
    folder = settings.home / topic_name("workers", settings.generation)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"{folder} cannot be made ({error.strerror}); name another folder by ANABRANCH_HOME"
        raise HomeUnusable(msg) from error
    return folder


def must_be_installed() -> None:
    """Look for what workers are made of, without loading it.

    Raises:
        MissingError: if some of it is not installed.
    """
    missing = [name for name in _CLIENTS if not _is_there(name)]
    if missing:
        msg = f"workers need {', '.join(missing)}: run `pip install 'anabranch[kafka]'`"
        raise MissingError(msg)


def _is_there(module: str) -> bool:
    return module in sys.modules or find_spec(module) is not None  # Faust, once loaded, hides where it came from
