"""Whether a broker answers yet."""

from __future__ import annotations

import socket
import struct
from typing import Final

from kafka import KafkaAdminClient
from kafka.errors import KafkaError

from infra.kafka.ports import HOST

_API_VERSIONS: Final = struct.pack(">ihhih", 10, 18, 0, 1, -1)
"""The protocol's first request: size 10, API 18 at version 0, correlation 1, no client id."""
_PATIENCE: Final = 5.0
"""Seconds for one answer on the loopback interface."""


def speaks(port: int) -> bool:
    """Say whether something answers Kafka's first request there.

    By hand, since a client that finds nobody keeps its thread, and this is asked many times.
    """
    try:
        with socket.create_connection((HOST, port), timeout=_PATIENCE) as connection:
            connection.sendall(_API_VERSIONS)
            answer = connection.recv(8, socket.MSG_WAITALL)
    except OSError:
        return False
    return answer[4:] == struct.pack(">i", 1)


def serves(port: int, cluster: str) -> bool:
    """Say whether the broker there belongs to ``cluster`` and has been let in by its controller."""
    limit = int(_PATIENCE * 1000)
    try:
        with KafkaAdminClient(
            bootstrap_servers=f"{HOST}:{port}", bootstrap_timeout_ms=limit, request_timeout_ms=limit
        ) as admin:
            described = admin.describe_cluster()
    except KafkaError:
        return False
    brokers = [one for one in described["brokers"] if not one.get("is_fenced")]
    return bool(described["cluster_id"] == cluster and brokers)
