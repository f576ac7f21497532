"""What a model plane serves: one TOML file, or a few options."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from infra.embedders import check
from infra.errors import UsageError
from infra.rerankers import check_reranker

PORT: Final = 8000
_HEALTH_S: Final = 5.0
_DRAIN_S: Final = 5.0
"""Seconds that a replica has to end its requests when it is stopped."""


class _Part(BaseModel):
    """A table of the file; a member that is not known is a typing error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Served(_Part):
    """How often a model is there, and how many requests may wait for it.

    A replica takes ``at_once`` requests; past ``waiting`` more the answer is 503, and who asked waits and asks again.
    Replicas are added up to ``replicas_max`` while each has more than half of ``at_once`` to do. ``gpus`` may be a
    part of one, so that several models share it.
    """

    replicas_min: Annotated[int, Field(ge=1, le=1024)] = 1
    replicas_max: Annotated[int, Field(ge=1, le=1024)] = 1
    at_once: Annotated[int, Field(ge=1, le=10_000)] = 64
    waiting: Annotated[int, Field(ge=1, le=100_000)] = 128
    cpus: Annotated[float, Field(ge=0, le=1024)] = 1.0
    gpus: Annotated[float, Field(ge=0, le=64)] = 0.0

    @property
    def deployment(self) -> dict[str, Any]:
        """How the model is deployed, in Ray's words."""
        return {
            "max_ongoing_requests": self.at_once,
            "max_queued_requests": self.waiting,
            "ray_actor_options": {"num_cpus": self.cpus, "num_gpus": self.gpus},
            "autoscaling_config": {
                "min_replicas": self.replicas_min,
                "max_replicas": self.replicas_max,
                "target_ongoing_requests": max(1, self.at_once // 2),
            },
            "health_check_period_s": _HEALTH_S,
            "graceful_shutdown_timeout_s": _DRAIN_S,
        }

    @model_validator(mode="after")
    def _ordered(self) -> Served:
        if self.replicas_min > self.replicas_max:
            msg = f"replicas_min is {self.replicas_min}, and replicas_max {self.replicas_max}"
            raise ValueError(msg)
        return self


class EmbeddingsPart(Served):
    """Encoders. ``model`` is written as ``ANABRANCH_EMBEDDER`` is; ``threads``: of each replica, unset: all cores."""

    model: str
    threads: Annotated[int | None, Field(ge=1, le=1024)] = None

    @field_validator("model")
    @classmethod
    def _known(cls, model: str) -> str:
        check(model)
        return _own(model)


class RerankerPart(Served):
    """Cross-encoders. ``model`` is written as ``ANABRANCH_RERANKER`` is; ``threads`` as above."""

    model: str
    threads: Annotated[int | None, Field(ge=1, le=1024)] = None

    @field_validator("model")
    @classmethod
    def _known(cls, model: str) -> str:
        check_reranker(model)
        return _own(model)


class LanguagePart(Served):
    """A language model on vLLM: ``model`` is its name in requests, ``source`` its folder or hub name.

    ``engine`` goes to vLLM as it is (``max_model_len``, ``gpu_memory_utilization``, ``tensor_parallel_size`` ...).
    ``gpus`` are of each of its workers, of which there are as many as ``tensor_parallel_size`` says: 1, or a part of
    one that others share; ``cpus`` are of the process in front of them.
    """

    gpus: Annotated[float, Field(gt=0, le=1)] = 1.0

    model: str
    source: str
    accelerator: str | None = None
    engine: dict[str, Any] = {}

    @property
    def llm_config(self) -> dict[str, Any]:
        """What ``ray.serve.llm.LLMConfig`` is made from; the GPUs are of vLLM's own workers, not of who starts them."""
        deployment = self.deployment | {"ray_actor_options": {"num_cpus": self.cpus}}
        accelerator = {} if self.accelerator is None else {"accelerator_type": self.accelerator}
        return {
            "model_loading_config": {"model_id": self.model, "model_source": self.source},
            "deployment_config": deployment,
            "engine_kwargs": self.engine,
            "placement_group_config": {"bundle_per_worker": {"GPU": self.gpus}},
        } | accelerator


class PlaneConfig(_Part):
    """The whole file. The server has no keys: it listens on this machine only, unless ``host`` says otherwise."""

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=1, le=65535)] = PORT
    embeddings: EmbeddingsPart | None = None
    reranker: RerankerPart | None = None
    language: LanguagePart | None = None

    @model_validator(mode="after")
    def _something(self) -> PlaneConfig:
        if self.embeddings is None and self.reranker is None and self.language is None:
            msg = "it names no model: write [embeddings], [reranker] or [language] with a model, or use --embedder"
            raise ValueError(msg)
        return self


def read_config(file: Path | None, given: dict[str, Any]) -> PlaneConfig:
    """Return the file's configuration with what was ``given`` in its place, table by table.

    Raises:
        UsageError: naming each wrong value, or why the file cannot be read.
    """
    told = {} if file is None else _told(file)
    for name, value in given.items():
        table = told.get(name)
        told[name] = table | value if isinstance(table, dict) and isinstance(value, dict) else value
    try:
        return PlaneConfig.model_validate(told)
    except ValidationError as error:
        where = "the options" if file is None else str(file)
        lines = [_line(where, [str(part) for part in one["loc"]], one["msg"]) for one in error.errors()]
        raise UsageError("\n".join(lines)) from None


def _told(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        msg = f"the models file {file} can't be read: {error}"
        raise UsageError(msg) from None


def _line(where: str, place: list[str], told: str) -> str:
    return f"{where}: {': '.join(['.'.join(place), told] if place else [told])}".replace("Value error, ", "")


def _own(model: str) -> str:
    if model.startswith("openai:"):
        msg = "a model that is served elsewhere already is not served again: name one of this machine"
        raise ValueError(msg)
    return model
