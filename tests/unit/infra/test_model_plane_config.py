"""What a models file may say, and what is made of it: nothing is started."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from typer.testing import CliRunner

from infra.cli.app import app
from infra.models.serving.config import read_config
from tests.fakes.reranker import WordsShared

FULL = """
port = 9000

[embeddings]
model = "hash:512"
replicas_max = 3
gpus = 0.25

[reranker]
model = "sentence-transformers:some-cross-encoder"
waiting = 7

[language]
model = "small"
source = "/models/small"
accelerator = "H200"
gpus = 0.5
cpus = 2
engine = { max_model_len = 8192, gpu_memory_utilization = 0.5 }
"""


def told(file: Path, *options: str) -> list[dict[str, Any]]:
    result = CliRunner().invoke(app, ["models", "serve", "--dry-run", "--config", str(file), *options])
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_dry_run_says_in_rays_words_what_would_be_served(tmp_path: Path) -> None:
    (tmp_path / "models.toml").write_text(FULL)
    embeddings, reranker, language, llm = told(tmp_path / "models.toml", "--embedder", "hash")
    assert (embeddings["model"], reranker["model"], language["model"]) == (
        "hash", "sentence-transformers:some-cross-encoder", "small"
    )  # fmt: skip
    assert embeddings["deployment"]["ray_actor_options"] == {"num_cpus": 1.0, "num_gpus": 0.25}
    assert embeddings["deployment"]["autoscaling_config"] == {
        "min_replicas": 1, "max_replicas": 3, "target_ongoing_requests": 32
    }  # fmt: skip
    assert reranker["deployment"]["max_queued_requests"] == 7
    assert llm["llm"]["model_loading_config"] == {"model_id": "small", "model_source": "/models/small"}
    assert llm["llm"]["engine_kwargs"] == {"max_model_len": 8192, "gpu_memory_utilization": 0.5}
    assert llm["llm"]["accelerator_type"] == "H200"
    assert llm["llm"]["deployment_config"]["max_ongoing_requests"] == 64
    assert llm["llm"]["deployment_config"]["ray_actor_options"] == {"num_cpus": 2.0}
    assert llm["llm"]["placement_group_config"] == {"bundle_per_worker": {"GPU": 0.5}}


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("", "names no model"),
        ("port = 0\n[embeddings]\nmodel = 'hash'", "port"),
        ("[embeddings]\nmodle = 'hash'", "embeddings.modle"),
        ("[embeddings]\nmodel = 'word2vec'", "sentence-transformers:NAME_OR_FOLDER"),
        ("[embeddings]\nmodel = 'openai:http://h/v1#m'", "served elsewhere"),
        ("[reranker]\nmodel = 'hash'", "sentence-transformers:NAME_OR_FOLDER"),
        ("[embeddings]\nmodel = 'hash'\nreplicas_min = 4", "replicas_max 1"),
        ("[language]\nmodel = 'm'\nsource = 's'\ngpus = 2", "language.gpus"),
        ("[embeddings", "can't be read"),
    ],
)
def test_a_wrong_value_is_named(tmp_path: Path, file: str, said: str) -> None:
    (tmp_path / "models.toml").write_text(file)
    result = CliRunner().invoke(app, ["models", "serve", "--config", str(tmp_path / "models.toml")])
    assert result.exit_code == 2
    assert said in result.output
    assert "models.toml" in result.output.replace("\n", "")


def test_the_options_alone_will_do() -> None:
    config = read_config(None, {"embeddings": {"model": "hash"}, "port": 8123})
    assert (config.host, config.port, config.reranker) == ("127.0.0.1", 8123, None)


def test_a_stage_worker_loads_neither_ray_nor_vllm() -> None:
    modules = ("infra.workers.work", "infra.models", "infra.models.http_embedder", "infra.cli.app", "infra.rerankers")
    script = f"import sys, {', '.join(modules)}; print({{'ray', 'vllm', 'torch'}} & set(sys.modules))"
    told = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert told.stdout.strip() == "set()"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of pydantic, at Ray's own models
async def test_the_reranker_s_replica_answers_as_the_model_does(monkeypatch: pytest.MonkeyPatch) -> None:
    plane = pytest.importorskip("infra.models.serving.plane", reason="the extra `serve` is not installed")
    words = WordsShared()
    monkeypatch.setattr(plane, "reranker_of", lambda _choice, _threads: words)
    replica = plane.RerankerReplica("sentence-transformers:words", None)
    for _ in range(2):
        await replica.check_health()
    assert words.asked[0] != words.asked[1], "a cache would answer for a model that is gone"
    body = json.dumps({"model": "words", "query": "dog", "documents": ["sea", "old dog"], "top_n": 1}).encode()
    (best,) = json.loads((await replica(request_of(body))).body)["results"]
    assert best == {"index": 1, "relevance_score": pytest.approx(0.622, abs=0.001)}
    assert (replica.about()["id"], replica.about()["kind"]) == ("words", "rerank")


def request_of(body: bytes) -> Request:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    return Request({"type": "http", "method": "POST", "path": "/v1/rerank", "headers": []}, receive)
