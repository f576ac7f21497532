"""Settings from the environment and an optional TOML file. The only reader of the environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from infra.address import Address
from infra.embedders import check
from infra.errors import UsageError
from infra.rerankers import check_reranker

PREFIX: Final = "ANABRANCH_"

# TID251: this module alone reads the environment, so that all else can be built and tested without it
_ENVIRONMENT: Mapping[str, str] = os.environ  # noqa: TID251


def _default_home() -> Path:
    """Return where the platform keeps an application's data."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "anabranch"
    if sys.platform == "win32":
        return Path(_ENVIRONMENT.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "anabranch"
    return Path(_ENVIRONMENT.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "anabranch"


def cache_folder() -> Path:
    """Return where the platform keeps what can be brought again."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "anabranch"
    return Path(_ENVIRONMENT.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "anabranch"


def child_environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment for one that it starts, with ``settings`` in place of our own variables."""
    others = {name: value for name, value in _ENVIRONMENT.items() if not name.startswith(PREFIX)}
    return others | dict(settings)


class Settings(BaseSettings):
    """What can be set, as ``ANABRANCH_NAME`` or as ``name`` in the TOML file; the environment wins.

    The file is the one that ``ANABRANCH_CONFIG`` names, else ``config.toml`` in the home, if it is there.
    """

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, extra="forbid", frozen=True)

    home: Annotated[Path, Field(description="folder of the embedded data")] = Field(default_factory=_default_home)
    embedder: Annotated[
        str, Field(description="sentence-transformers:NAME_OR_FOLDER, openai:URL#MODEL, hash or hash:DIMENSION")
    ] = "sentence-transformers:all-MiniLM-L6-v2"
    max_text: Annotated[int, Field(ge=1, le=10_000_000, description="longest text of a turn, in characters")] = (
        1_000_000
    )
    threads: Annotated[
        int | None, Field(ge=1, le=1024, description="threads of the encoder; unset: its own choice")
    ] = None
    kafka: Annotated[str | None, Field(description="bootstrap servers; unset: embedded mode")] = None
    qdrant_url: Annotated[str | None, Field(description="a Qdrant server, for the Kafka mode")] = None
    qdrant_grpc_port: Annotated[int | None, Field(ge=1, le=65535, description="its gRPC port; unset: REST only")] = 6334
    qdrant_api_key: Annotated[SecretStr | None, Field(description="its key, where it asks for one")] = None
    generation: Annotated[
        int, Field(ge=1, description="which generation of memory workers write and questions read, on Kafka")
    ] = 1
    worker_port: Annotated[
        int | None, Field(ge=1, le=65535, description="pages of a stage's first worker; unset: a free port")
    ] = None
    worker_host: Annotated[
        str,
        Field(min_length=1, description="address of a worker's pages, which have no keys; unset: this machine only"),
    ] = "127.0.0.1"
    language_model: Annotated[
        str | None, Field(description="openai:URL#MODEL: what reads turns beside the rules; unset: rules alone")
    ] = None
    model_key: Annotated[SecretStr | None, Field(description="the language model's key, where it asks for one")] = None
    model_timeout: Annotated[float, Field(gt=0, le=3600, description="longest call of a language model, in s")] = 60.0
    model_context: Annotated[
        int, Field(ge=256, le=10_000_000, description="most tokens of a language model's prompt and answer together")
    ] = 8192
    model_concurrency: Annotated[int, Field(ge=1, le=1024, description="calls at once of a language model")] = 8
    model_salt: Annotated[
        SecretStr | None, Field(description="a secret that keeps tenants apart in the model's prefix cache (vLLM)")
    ] = None
    answer_tokens: Annotated[
        int, Field(ge=100, le=1_000_000, description="most tokens of evidence in a request for an answer")
    ] = 2000
    answer_requests: Annotated[
        int, Field(ge=0, le=20, description="most requests to the language model an answer; 0: evidence only")
    ] = 4
    answer_seconds: Annotated[
        float, Field(gt=0, le=3600, description="most seconds of an answer, research included")
    ] = 20.0
    reranker: Annotated[
        str | None, Field(description="openai:URL#MODEL or sentence-transformers:NAME_OR_FOLDER; unset: none")
    ] = None
    keys: Annotated[Path | None, Field(description="the gateway's API keys; unset: keys.sqlite in the home")] = None
    gateway_body: Annotated[
        int, Field(ge=1024, le=64 * 1024 * 1024, description="largest body of a request, in bytes")
    ] = 4 * 1024 * 1024
    gateway_turns: Annotated[int, Field(ge=1, le=10_000, description="most turns of a request")] = 500
    gateway_rate: Annotated[
        float, Field(gt=0, le=1_000_000, description="requests a second that a key may make; twice as many at once")
    ] = 200.0
    gateway_pending: Annotated[
        int, Field(ge=1, le=100_000_000, description="most events of a space that may wait for their outcome")
    ] = 10_000
    views: Annotated[
        Literal["auto", "single", "random"],
        Field(description="how a space comes by its views, where a language model reads: single, random to compare"),
    ] = "auto"
    view_requests: Annotated[
        Literal["one", "each"], Field(description="requests to the language model a chunk: one, or one for each view")
    ] = "one"
    embedder_key: Annotated[SecretStr | None, Field(description="API key of an embedder that is served")] = None
    reranker_key: Annotated[SecretStr | None, Field(description="API key of a reranker that is served")] = None
    reranker_wait: Annotated[
        float, Field(gt=0, le=60, description="seconds that a recall waits for its reranker, then goes without it")
    ] = 2.0

    @property
    def key_file(self) -> Path:
        """Where the gateway's API keys are."""
        return self.home / "keys.sqlite" if self.keys is None else self.keys

    def embedded(self, home: Path) -> Settings:
        """Return the same settings for the embedded mode in another home: no cluster is known to them."""
        return self.model_copy(update={"home": home, "kafka": None, "qdrant_url": None})

    @field_validator("home", "keys")
    @classmethod
    def _absolute(cls, path: Path | None) -> Path | None:
        return None if path is None else path.expanduser().absolute()

    @field_validator("embedder")
    @classmethod
    def _known(cls, embedder: str) -> str:
        check(embedder)
        return embedder

    @field_validator("language_model")
    @classmethod
    def _endpoint(cls, value: str | None) -> str | None:
        if value is not None:
            Address.of_setting(value)
        return value

    @field_validator("model_key", "embedder_key", "reranker_key")
    @classmethod
    def _header(cls, value: SecretStr | None) -> SecretStr | None:
        secret = "" if value is None else value.get_secret_value()
        if not (secret.isascii() and secret.isprintable()):
            msg = "a key goes into a header of HTTP: write it in plain ASCII, in one line"
            raise ValueError(msg)
        return value

    @field_validator("reranker")
    @classmethod
    def _known_reranker(cls, reranker: str | None) -> str | None:
        if reranker is not None:
            check_reranker(reranker)
        return reranker


def load_settings() -> Settings:
    """Read environment and file.

    Raises:
        UsageError: naming each wrong value and the variable or file that holds it.
    """
    file = config_file()
    if file is not None and not file.is_file():
        msg = f"ANABRANCH_CONFIG names {file}, and there is no such file"
        raise UsageError(msg)

    class WithFile(Settings):
        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is pydantic's
            file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            toml = () if file is None else (TomlConfigSettingsSource(settings_cls, file),)
            return (init_settings, env_settings, *toml)

    try:
        return Settings.model_construct(**vars(WithFile()))
    except ValidationError as error:
        raise UsageError(_explained(error, file)) from None
    except (OSError, ValueError) as error:
        msg = f"the settings file {file} can't be read: {error}"
        raise UsageError(msg) from None


def config_file() -> Path | None:
    """Return the TOML file to read: the one named by ``ANABRANCH_CONFIG``, else the home's own if it is there."""
    if named := _ENVIRONMENT.get(f"{PREFIX}CONFIG"):
        return Path(named).expanduser()
    home = Path(_ENVIRONMENT.get(f"{PREFIX}HOME") or _default_home()).expanduser()
    return home / "config.toml" if (home / "config.toml").is_file() else None


def as_environment(settings: Settings) -> dict[str, str]:
    """Return the variables that stand for settings: what a process that is started needs to have the same."""
    named: dict[str, str] = {}
    for name, value in settings:
        if value is not None:
            shown = value.get_secret_value() if isinstance(value, SecretStr) else str(value)
            named[f"{PREFIX}{name.upper()}"] = shown
    return named


def traces_wanted() -> bool:
    """Whether OpenTelemetry's own variables name a place for spans to go, and none of them says that none should."""
    named = any(_ENVIRONMENT.get(f"OTEL_EXPORTER_OTLP_{which}ENDPOINT") for which in ("", "TRACES_"))
    is_off = _ENVIRONMENT.get("OTEL_SDK_DISABLED", "").lower() == "true"
    return named and not is_off and _ENVIRONMENT.get("OTEL_TRACES_EXPORTER", "") != "none"


def unknown_variables() -> list[str]:
    """Return variables that begin with ``ANABRANCH_`` and set nothing: most likely typing errors."""
    known = {f"{PREFIX}{name.upper()}" for name in (*Settings.model_fields, "config")}
    return sorted(name for name in _ENVIRONMENT if name.startswith(PREFIX) and name not in known)


def _explained(error: ValidationError, file: Path | None) -> str:
    lines = []
    for problem in error.errors():
        name = str(problem["loc"][0])
        variable = f"{PREFIX}{name.upper()}"
        where = variable if _ENVIRONMENT.get(variable) else f"{name} in {file}"
        known = ", ".join(Settings.model_fields)
        what = f"no such setting; known are {known}" if problem["type"] == "extra_forbidden" else problem["msg"]
        lines.append(f"{where}: {what.removeprefix('Value error, ')}")
    return "\n".join(lines)
