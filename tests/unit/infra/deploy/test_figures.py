"""Dashboard and alerts: every figure and label in them is one that the code shows, and none is forgotten."""

from __future__ import annotations

import itertools
import re
from importlib.util import find_spec
from typing import Any

import pytest

from infra.kafka.topics import wanted
from streams.metrics import Name
from streams.topology import FLOW
from tests.fakes.deployed import read
from tests.fakes.figures import TARGET, asked, shown

BOARD: dict[str, Any] = read("chart/files/dashboard.json")
PANELS = [panel for panel in BOARD["panels"] if panel["type"] != "row"]
RULES: list[dict[str, Any]] = [rule for group in read("chart/files/alerts.yaml")["groups"] for rule in group["rules"]]
EXPRESSIONS = [
    *[(rule["alert"], rule["expr"]) for rule in RULES],
    *[(panel["title"], target["expr"]) for panel in PANELS for target in panel["targets"]],
]
STAGES = {step.name for step in FLOW}


def plain(expression: str) -> str:
    """Return an expression with Grafana's variables in place."""
    return expression.replace("$__rate_interval", "5m").replace("$stage", ".*")


@pytest.mark.parametrize(("where", "expression"), EXPRESSIONS)
def test_it_asks_for_what_is_shown(where: str, expression: str) -> None:
    named = asked(expression)
    assert named, where
    if not find_spec("infra.gateway"):  # its figures come with it, and are looked at then
        named = {series: labels for series, labels in named.items() if not series.startswith("anabranch_gateway_")}
    assert set(named) <= set(shown()), where
    has = frozenset().union(*(shown()[series] for series in named))
    assert all(labels <= has | TARGET for labels in named.values()), where


@pytest.mark.parametrize(("where", "expression"), EXPRESSIONS)
def test_it_is_promql(where: str, expression: str) -> None:
    parser = pytest.importorskip("promql_parser", reason="reads PromQL as Prometheus does")
    assert parser.parse(plain(expression)) is not None, where


@pytest.mark.parametrize(
    ("expression", "series", "labels"),
    [
        ("sum by (stage, cause) (increase(anabranch_restarts_total[30m])) >= 2", "restarts_total", {"stage", "cause"}),
        ('anabranch_waiting{for=~"memory|x=y", stage!="a"}', "waiting", {"for", "stage"}),
        ("anabranch_lag_event", "lag_event", set()),
    ],
)
def test_what_an_expression_asks_is_seen(expression: str, series: str, labels: set[str]) -> None:
    assert asked(expression) == {f"anabranch_{series}": labels}


def test_every_figure_of_a_worker_has_its_place_on_the_dashboard() -> None:
    on_it = {re.sub(r"_(total|bucket)$", "", name) for _, text in EXPRESSIONS[len(RULES) :] for name in asked(text)}
    assert {str(name) for name in Name} <= on_it


def test_panels_do_not_cover_each_other() -> None:
    places = [panel["gridPos"] for panel in BOARD["panels"]]
    cells = [
        cell
        for place in places
        for cell in itertools.product(
            range(place["x"], place["x"] + place["w"]), range(place["y"], place["y"] + place["h"])
        )
    ]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) == 23
    assert len({panel["id"] for panel in BOARD["panels"]}) == len(places)


def test_every_alert_says_what_is_wrong_and_what_to_do() -> None:
    assert len({rule["alert"] for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule["labels"]["severity"] in {"page", "ticket"}, rule["alert"]
        assert set(rule["annotations"]) == {"summary", "action"}, rule["alert"]
        named = re.findall(r"\$labels\.(\w+)", str(rule["annotations"]))
        assert set(named) <= {label for labels in asked(rule["expr"]).values() for label in labels}, rule["alert"]


def test_an_alert_is_given_for_each_stage_that_has_no_worker() -> None:
    (rule,) = [rule for rule in RULES if rule["alert"] == "AnabranchStageWithoutWorker"]
    assert sorted(re.findall(r'absent\(anabranch_partitions_assigned\{stage="(\w+)"\}\)', rule["expr"])) == sorted(
        STAGES
    )


def test_the_alarm_comes_at_half_of_the_retention() -> None:
    (rule,) = [rule for rule in RULES if rule["alert"] == "AnabranchHalfOfRetention"]
    topics = {topic.name: topic.settings.get("retention.ms") for topic in wanted(replication=1)}
    kept = {topics[step.source.name] for step in FLOW if step.source.name != "turns"}
    assert topics["turns"] == "-1"
    assert kept == {str(2 * 1000 * int(rule["expr"].rpartition(" ")[2]))}
