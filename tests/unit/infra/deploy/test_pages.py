"""The pages for operators: their commands, files, alerts and figures are those that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from infra.kafka.topics import wanted
from tests.fakes.deployed import DEPLOY, commands_in, of_kind, read, refused, rendered

PAGES = sorted(DEPLOY.glob("*.md"))
README = (DEPLOY / "README.md").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_in_it_exists(page: Path) -> None:
    commands = list(commands_in(page.read_text()))
    assert commands
    for command in commands:
        assert refused(_filled(command)) is None, command


def _filled(command: list[str]) -> list[str]:
    """Return a command with numbers where a page has words for them."""
    return ["1" if word in {"PARTITION", "OFFSET"} else "route" if word == "STAGE" else word for word in command]


def test_links_and_files_in_the_readme_are_there() -> None:
    named = re.findall(r"\]\(([^)#:]+)\)", README) + re.findall(r"(?<= )infra/deploy/([\w./]+)", README)
    assert "backup.md" in named
    assert [name for name in named if not (DEPLOY / name).exists()] == []


def test_every_alert_is_explained() -> None:
    rules = [rule["alert"] for group in read("chart/files/alerts.yaml")["groups"] for rule in group["rules"]]
    assert re.findall(r"^\| `(Anabranch\w+)` \|", README, re.MULTILINE) == rules


def test_the_values_that_it_shows_are_taken() -> None:
    (shown,) = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
    gateway = of_kind("Deployment", rendered(yaml.safe_load(shown)))["mem-anabranch-gateway"]
    (container,) = gateway["spec"]["template"]["spec"]["containers"]
    assert container["image"].startswith("REGISTRY/anabranch:")
    assert {one["name"]: one.get("value") for one in container["env"]}["ANABRANCH_KAFKA"].count(",") == 1


def test_values_that_it_names_exist() -> None:
    values = read("chart/values.yaml")
    named = re.findall(r"`((?:keda|gateway|consolidation)\.(\w+))`", README)
    assert named
    assert [path for path, name in named if name not in values[path.partition(".")[0]]] == []


def test_topics_that_backups_speak_of_exist() -> None:
    text = (DEPLOY / "backup.md").read_text()
    mirrored = re.findall(r"^source->copy\.topics = (.*)$", text, re.MULTILINE)
    names = {topic.name: topic.settings.get("retention.ms") for topic in wanted(replication=1)}
    assert mirrored
    for line in mirrored:
        kept = line.replace("\\", "").split(", ")
        assert {name for name, retention in names.items() if retention == "-1"} == set(kept)
