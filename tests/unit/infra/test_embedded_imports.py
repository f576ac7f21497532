"""The embedded mode starts without the clients of the Kafka mode, which not everybody has installed."""

from __future__ import annotations

import json
import subprocess
import sys

CLIENTS = {"aiokafka", "kafka", "faust", "qdrant_client", "opentelemetry"}
LOADED = "import json, sys, infra.bootstrap, infra.cli.app; print(json.dumps(sorted(sys.modules)))"


def test_no_client_of_a_service_is_loaded() -> None:
    told = subprocess.run([sys.executable, "-c", LOADED], check=True, capture_output=True, text=True)
    loaded = set(json.loads(told.stdout))
    assert "infra.embedded_memory" in loaded
    assert not loaded & CLIENTS
