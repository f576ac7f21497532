"""The chart's values: each is described, and what is wrong is refused with its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema
import pytest

from infra.embedders import check
from tests.fakes.deployed import NEEDED, read, rendered

VALUES: dict[str, Any] = read("chart/values.yaml")
SCHEMA: dict[str, Any] = read("chart/values.schema.json")


def merged(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the defaults with others in their places, as Helm does it."""
    made = dict(VALUES)
    for name, value in {**NEEDED, **given}.items():
        made[name] = {**VALUES[name], **value} if isinstance(value, dict) and name in VALUES else value
    return made


def paths(schema: Mapping[str, Any], at: str = "") -> Iterator[str]:
    """Give the path of every property of a schema that lists them."""
    for name, one in schema.get("properties", {}).items():
        yield f"{at}.{name}"
        yield from paths(one, f"{at}.{name}")


def has(path: str) -> bool:
    value: Any = VALUES
    for name in path.split(".")[1:]:
        if name not in value:
            return False
        value = value[name]
    return True


def test_the_schema_is_one() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)


def test_the_defaults_pass_with_the_two_that_are_needed_and_not_without() -> None:
    jsonschema.validate(merged({}), SCHEMA)
    faults = {error.json_path for error in jsonschema.Draft7Validator(SCHEMA).iter_errors(VALUES)}
    assert faults == {"$.kafka.bootstrapServers", "$.qdrant.url"}


def test_every_value_of_the_schema_is_shown_among_the_defaults() -> None:
    unshown = {".global", ".nameOverride", ".fullnameOverride"}  # Helm's own habits
    assert {path for path in paths(SCHEMA) if not has(path)} == unshown


def test_the_default_encoder_is_one_that_settings_take() -> None:
    check(VALUES["embedder"])


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"kafka": {"bootstrapServers": "http://kafka:9092"}}, "$.kafka.bootstrapServers"),
    ({"kafka": {"bootstrapServers": "kafka"}}, "$.kafka.bootstrapServers"),
    ({"qdrant": {"url": "qdrant:6333"}}, "$.qdrant.url"),
    ({"worker": {"maxReplicas": 25}}, "$.worker.maxReplicas"),
    ({"stages": {"route": {"maxReplicas": 48}}}, "$.stages.route.maxReplicas"),
    ({"stages": {"rout": {}}}, "$.stages"),
    ({"stages": {"route": {"replicas": 2}}}, "$.stages.route"),
    ({"worker": {"minReplicas": 0}}, "$.worker.minReplicas"),
    ({"threads": 0}, "$.threads"),
    ({"embedder": "openai:http://models:8000#m"}, "$.embedder"),
    ({"gateway": {"port": 70000}}, "$.gateway.port"),
    ({"gateways": {}}, "$"),
]


@pytest.mark.parametrize(("given", "place"), WRONG)
def test_what_is_wrong_is_refused_at_its_place(given: dict[str, Any], place: str) -> None:
    faults = {error.json_path for error in jsonschema.Draft7Validator(SCHEMA).iter_errors(merged(given))}
    assert faults == {place}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"worker": {"maxReplicas": 25}}, "/worker/maxReplicas"),
        ({"stages": {"rout": {}}}, "rout"),
        ({"stages": {"route": {"minReplicas": 5, "maxReplicas": 4}}}, "minReplicas 5 is above maxReplicas 4"),
    ],
)
def test_helm_refuses_it_too(given: dict[str, Any], told: str) -> None:
    helm = pytest.importorskip("helm_python", reason="Helm's own code")
    with pytest.raises(helm.HelmError, match=told):
        rendered(given)
