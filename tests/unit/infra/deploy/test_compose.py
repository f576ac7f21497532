"""The compose file: of the right form, its services ones that exist, and told what the code knows."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from infra.kafka.jars import POM
from infra.kafka.ports import Ports
from infra.kafka.storage import properties
from infra.settings import load_settings, unknown_variables
from infra.workers.supervisor import GRACE
from infra.workers.web import serving
from streams.topology import FLOW
from tests.fakes.deployed import DEPLOY, ROOT, read, refused, wrong_names

COMPOSE: dict[str, Any] = read("compose.yaml")
SERVICES: dict[str, Any] = COMPOSE["services"]
STAGES = [step.name for step in FLOW]
OURS = [name for name, one in SERVICES.items() if one["image"].startswith("anabranch:")]


def test_it_is_a_compose_file() -> None:
    package = find_spec("check_jsonschema")  # its command line, which importing it loads, is not needed
    if package is None or package.origin is None:
        pytest.skip("check-jsonschema, which brings the compose specification's schema, is not installed")
    schema = Path(package.origin).parent / "builtin_schemas" / "vendor" / "compose-spec.json"
    jsonschema.validate(COMPOSE, json.loads(schema.read_text()))


def test_every_stage_has_one_worker_and_the_rest_is_there() -> None:
    workers = [one["command"] for one in SERVICES.values() if one.get("command", [None])[0] == "worker"]
    assert workers == [["worker", stage] for stage in STAGES]
    others = {"kafka", "qdrant", "topics", "gateway", "prometheus", "grafana"}
    assert set(SERVICES) == {*STAGES, *others}


@pytest.mark.parametrize("name", OURS)
def test_its_command_and_its_settings_exist(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    service = SERVICES[name]
    assert refused(service["command"]) is None
    assert wrong_names(list(service["environment"])) == []
    for variable, value in service["environment"].items():
        monkeypatch.setenv(variable, value)
    settings = load_settings()
    assert (settings.kafka, settings.qdrant_url) == ("kafka:19092", "http://qdrant:6333")
    assert wrong_names(unknown_variables()) == []


@pytest.mark.parametrize("name", OURS)
def test_a_container_may_do_little(name: str) -> None:
    service = SERVICES[name]
    assert (service["read_only"], service["cap_drop"], service["tmpfs"]) == (True, ["ALL"], ["/tmp"])  # noqa: S108 - of a container
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert service["image"] == f"anabranch:{version}"


def test_every_port_is_for_this_machine_alone() -> None:
    ports = [port for one in SERVICES.values() for port in one.get("ports", ())]
    assert ports
    assert [port for port in ports if not re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port)] == []


def test_versions_are_pinned_to_those_that_tests_run_on() -> None:
    images = {name: one["image"].partition(":")[2] for name, one in SERVICES.items()}
    assert [name for name, tag in images.items() if not re.fullmatch(r"v?\d+\.\d+\.\d+", tag)] == []
    pom = ET.parse(POM)  # noqa: S314 - our own file
    versions = [one.text for one in pom.iter() if one.tag.endswith("}version") or one.tag == "version"]
    assert images["kafka"] in versions
    assert tuple(map(int, images["qdrant"].removeprefix("v").split(".")))[:2] >= (1, 17)


def test_kafka_is_set_as_our_own_broker_where_both_say_it() -> None:
    own = dict(line.split("=", 1) for line in properties(Ports(1, 2)).splitlines())
    said = {
        name.removeprefix("KAFKA_").lower().replace("_", "."): value
        for name, value in SERVICES["kafka"]["environment"].items()
    }
    of_places = {
        "advertised.listeners",
        "listeners",
        "controller.quorum.voters",
        "controller.listener.names",
        "log.dirs",
    }
    of_places |= {"listener.security.protocol.map"}
    both = (own.keys() & said.keys()) - of_places
    assert {"auto.create.topics.enable", "message.max.bytes", "log.message.timestamp.type"} <= both
    assert {name: said[name] for name in both} == {name: own[name] for name in both}


@pytest.mark.parametrize("stage", STAGES)
def test_prometheus_asks_each_worker_at_its_address(stage: str) -> None:
    environment = SERVICES[stage]["environment"]
    scraped = [target for job in read("observe/prometheus.yaml")["scrape_configs"] for one in job["static_configs"]
               for target in one["targets"]]  # fmt: skip
    assert environment["ANABRANCH_WORKER_HOST"] == stage
    assert f"{stage}:{environment['ANABRANCH_WORKER_PORT']}" in scraped


@pytest.mark.parametrize("stage", STAGES)
def test_a_worker_has_the_time_to_end(stage: str) -> None:
    assert int(SERVICES[stage]["stop_grace_period"].removesuffix("s")) >= GRACE + 10


def test_what_is_mounted_from_the_repository_is_there() -> None:
    mounts = [one.split(":")[0] for service in SERVICES.values() for one in service.get("volumes", ())]
    assert [path for path in mounts if path.startswith(".") and not (DEPLOY / path).is_file()] == []
    assert {path for path in mounts if not path.startswith(".")} == set(COMPOSE["volumes"])
    build = SERVICES["topics"]["build"]
    assert (DEPLOY / build["context"]).resolve() == ROOT
    assert (ROOT / build["dockerfile"]).is_file()


class Pages:
    """Of a worker that is well or not."""

    def __init__(self, reason: str | None) -> None:
        self.reason = reason

    def unwell(self) -> str | None:
        return self.reason

    def unready(self) -> str | None:
        return "never"

    def figures(self) -> bytes:
        return b""

    def status(self) -> dict[str, Any]:
        return {}


@pytest.mark.parametrize(("reason", "code"), [(None, 0), ("no progress", 1)])
async def test_the_check_of_health_tells_a_worker_that_is_well(reason: str | None, code: int) -> None:
    kind, line = SERVICES["route"]["healthcheck"]["test"]
    assert kind == "CMD-SHELL"
    async with serving(Pages(reason), 0) as port:
        script = f"ANABRANCH_WORKER_HOST=127.0.0.1 ANABRANCH_WORKER_PORT={port}; {line.replace('$$', '$')}"
        ran = await asyncio.to_thread(subprocess.run, ["/bin/sh", "-c", script], capture_output=True, check=False)
    assert (ran.returncode, b"503" in ran.stderr) == (code, bool(code))


def test_grafana_is_given_the_dashboard_and_the_source() -> None:
    mounts = dict(one.split(":")[:2] for one in SERVICES["grafana"]["volumes"] if one.startswith("."))
    (provider,) = read("observe/dashboards.yaml")["providers"]
    (source,) = read("observe/datasources.yaml")["datasources"]
    assert Path(mounts["./chart/files/dashboard.json"]).parent == Path(provider["options"]["path"])
    assert (source["type"], source["url"]) == ("prometheus", "http://prometheus:9090")
