"""What `infra/deploy` says, read as the programs read it that it is for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command
from typer.testing import CliRunner

from infra.cli.app import app
from infra.settings import PREFIX, Settings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "infra" / "deploy"
CHART = DEPLOY / "chart"

NEEDED = {"kafka": {"bootstrapServers": "k1:9092,k2:9092"}, "qdrant": {"url": "http://qdrant:6333"}}
"""The values that have no default."""

_LATER = frozenset({"serve", "keys", "reindex"}) - set(getattr(get_command(app), "commands", ()))
"""Commands that the installation needs and that this version does not have yet: checked as soon as it has them."""


def read(name: str) -> Any:
    """Return a YAML or JSON file."""
    return yaml.safe_load((DEPLOY / name).read_text())


def rendered(values: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """Return what Helm makes of the chart with these values beside the needed ones."""
    helm = pytest.importorskip("helm_python", reason="Helm's own code, a wheel of the extra `dev` where there is one")
    with helm.Chart.load(CHART) as chart:
        texts = chart.render({**NEEDED, **(values or {})}, name="mem", namespace="bots")
    return [
        one for name, text in sorted(texts.items()) if name.endswith(".yaml") for one in yaml.safe_load_all(text) if one
    ]


@cache
def default() -> Sequence[dict[str, Any]]:
    """Return the chart rendered with what can be switched on: do not change it."""
    return rendered({"monitoring": {"enabled": True}, "gateway": {"keysSecret": "gateway-keys"}})


def of_kind(kind: str, among: Sequence[dict[str, Any]] | None = None) -> dict[str, dict[str, Any]]:
    """Return the manifests of a kind by name."""
    found = default() if among is None else among
    return {one["metadata"]["name"]: one for one in found if one["kind"] == kind}


def wrong_names(variables: Iterator[str] | Sequence[str]) -> list[str]:
    """Return variables that begin as ours do and are no settings."""
    known = {f"{PREFIX}{name.upper()}" for name in (*Settings.model_fields, "config")}
    if not (ROOT / "infra" / "gateway").is_dir():
        known |= {"ANABRANCH_KEYS"}  # the gateway's
    return [name for name in variables if name.startswith(PREFIX) and name not in known]


def refused(command: Sequence[str]) -> str | None:
    """Return why the command line does not take a command with these options, ``None`` if it does; runs nothing."""
    if command[0] in _LATER:
        return None
    shown = CliRunner().invoke(app, [*command, "--help"])
    return None if shown.exit_code == 0 and "Usage" in shown.output else shown.output


def commands_in(text: str) -> Iterator[list[str]]:
    """Give the `anabranch` commands of a page: in blocks and in line, without their ends in comment or pipe."""
    for found in re.finditer(r"(?:^|[\s`(]|-- )anabranch ([a-z][^\n`|>#&;)]*)", text, re.MULTILINE):
        words = re.sub(r"\\\n|\[[^\]]*\]", " ", found[1]).split()
        yield [word for word in words if word != "…"]
