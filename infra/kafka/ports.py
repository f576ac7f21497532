"""The two ports of a broker on this machine's loopback interface."""

from __future__ import annotations

import socket
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from infra.kafka.errors import BrokerFailedError

HOST: Final = "127.0.0.1"
"""A broker of our own has neither encryption nor passwords: it listens nowhere else."""

_FIRST: Final = 20_000
_COUNT: Final = 10_000
"""Below what systems give to outgoing connections (from 32,768 or 49,152 on): such a one could take the port of a
broker that is down for a moment, and the same port must be free when it starts again."""


@dataclass(frozen=True, slots=True)
class Ports:
    """Where clients connect, and where the broker's own controller does."""

    broker: int
    controller: int


def choose(folder: Path, port: int | None = None) -> Ports:
    """Return free ports, the same ones for the same folder while they are free; ``port`` is the clients', if given.

    Raises:
        BrokerFailedError: if no port is free. A ``port`` in use is told when the broker starts.
    """
    free = list(islice((one for one in _candidates(folder) if one != port and is_free(one)), 2))
    if len(free) < 2:  # noqa: PLR2004 - a pair
        msg = (
            f"no port between {_FIRST} and {_FIRST + _COUNT - 1} is free on {HOST} for a Kafka broker: end some servers"
        )
        raise BrokerFailedError(msg)
    return Ports(free[0] if port is None else port, free[1])


def _candidates(folder: Path) -> Iterator[int]:
    start = zlib.crc32(str(folder).encode("utf-8", "surrogateescape"))
    return (_FIRST + (start + step) % _COUNT for step in range(_COUNT))


def is_free(port: int) -> bool:
    """Say whether a server could listen on the port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do: closed connections do not count
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def refuse_taken(ports: Ports) -> None:
    """Check that both ports are free.

    Raises:
        BrokerFailedError: naming the one that is not.
    """
    for port in (ports.broker, ports.controller):
        if not is_free(port):
            msg = f"another program has the port {port} on {HOST}: end it, or name another port with --port"
            raise BrokerFailedError(msg)
