"""What a process does not need it does not load: not everybody has it installed, and everybody waits for it."""

from __future__ import annotations

import json
import subprocess
import sys

CLIENTS = {"aiokafka", "kafka", "faust", "qdrant_client", "opentelemetry"}
ENGINES = {"numpy", "qdrant_edge", "torch", "sentence_transformers", "dateparser"}


def loaded(*modules: str) -> set[str]:
    """Return all modules that are there when these have been imported."""
    script = f"import json, sys, {', '.join(modules)}; print(json.dumps(sorted(sys.modules)))"
    told = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return set(json.loads(told.stdout))


def test_the_embedded_mode_loads_no_client_of_a_service() -> None:
    there = loaded("infra.embedded_plane", "infra.cli.app")
    assert ENGINES & there == {"numpy", "qdrant_edge", "dateparser"}
    assert not there & CLIENTS


def test_an_embedded_gateway_loads_no_client_of_a_service() -> None:
    there = loaded("infra.gateway.server", "infra.gateway.embedded", "infra.embedded_plane")
    assert {"fastapi", "uvicorn"} <= there
    assert not there & (CLIENTS - {"opentelemetry"})  # FastAPI looks whether it is there


def test_the_command_line_loads_no_server_before_it_serves() -> None:
    assert not loaded("infra.cli.app") & {"fastapi", "starlette", "uvicorn", "prometheus_client", "httpx"}


def test_reports_and_a_supervisor_load_no_client_no_index_and_no_model() -> None:
    there = loaded("infra.bootstrap", "infra.cli.app", "infra.workers.supervise")
    assert {"infra.embedded_memory", "infra.workers.supervisor"} <= there
    assert not there & (CLIENTS | ENGINES)


def test_a_worker_with_the_hash_embedder_loads_no_deep_learning_framework_and_no_admin_client() -> None:
    there = loaded("infra.workers.work", "infra.models")
    assert {"aiokafka", "faust", "qdrant_client"} <= there
    assert not there & {"torch", "sentence_transformers", "kafka"}


def test_a_worker_whose_stage_does_nothing_loads_no_index_and_no_model() -> None:
    assert not loaded("infra.bench.kafka.idle_worker") & {"numpy", "qdrant_edge", "qdrant_client", "dateparser"}
