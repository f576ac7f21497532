"""The Helm chart, rendered by Helm's own code: each manifest is one, and says what workers need and can bear."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import pytest

from infra.kafka.topics import LOG_PARTITIONS
from infra.workers.health import OVER, STILL_S
from infra.workers.supervisor import GRACE
from streams.kafka.names import group_of, topic_name
from streams.topology import FIRST, FLOW
from tests.fakes.deployed import CHART, DEPLOY, NEEDED, default, of_kind, read, refused, rendered, wrong_names

STAGES = [step.name for step in FLOW]
KUBERNETES = ("1.30", "1.34")
"""The oldest that the chart takes, and a newer one."""

MODELS = {
    "ScaledObject": ("cloudcoil.models.keda.v1alpha1", "ScaledObject"),
    "PodMonitor": ("cloudcoil.models.prometheus_operator.v1", "PodMonitor"),
    "ServiceMonitor": ("cloudcoil.models.prometheus_operator.v1", "ServiceMonitor"),
    "PrometheusRule": ("cloudcoil.models.prometheus_operator.v1", "PrometheusRule"),
}
"""Models made of the kinds' own definitions (CRDs), which Kubernetes' schemas lack."""


def worker(stage: str) -> str:
    return f"mem-anabranch-{stage.replace('_', '-')}"


def pods(among: list[dict[str, Any]] | None = None) -> dict[str, dict[str, Any]]:
    """Return the pod specifications of deployments and jobs by name."""
    found = of_kind("Deployment", among) | of_kind("Job", among)
    made = {name: one["spec"]["template"]["spec"] for name, one in found.items()}
    jobs = of_kind("CronJob", among)
    return made | {name: one["spec"]["jobTemplate"]["spec"]["template"]["spec"] for name, one in jobs.items()}


def labels() -> list[dict[str, str]]:
    return [one["spec"]["template"]["metadata"]["labels"] for one in of_kind("Deployment").values()]


def test_helm_finds_no_fault() -> None:
    helm = pytest.importorskip("helm_python", reason="Helm's own code")
    told = helm.lint(CHART, NEEDED, kube_version=f"v{KUBERNETES[0]}.0")
    assert [one["error"] for one in told["messages"] if one["severity"] > 1] == []


@pytest.mark.parametrize("version", KUBERNETES)
def test_every_manifest_is_one_of_kubernetes(version: str) -> None:
    kubernetes = pytest.importorskip("kubernetes_validate", reason="brings Kubernetes' schemas")
    core = [one for one in default() if one["kind"] not in MODELS]
    assert {one["kind"] for one in core} >= {"Deployment", "Job", "Service", "PodDisruptionBudget", "NetworkPolicy"}
    for one in core:
        kubernetes.validate(one, version, strict=True)


def test_a_manifest_with_an_unknown_field_is_none() -> None:
    kubernetes = pytest.importorskip("kubernetes_validate", reason="brings Kubernetes' schemas")
    job = next(iter(of_kind("Job").values()))
    with pytest.raises(kubernetes.ValidationError):
        kubernetes.validate(job | {"spec": job["spec"] | {"restarts": 3}}, KUBERNETES[0], strict=True)


@pytest.mark.parametrize("kind", MODELS)
def test_manifests_of_other_kinds_are_as_these_define_them(kind: str) -> None:
    module, name = MODELS[kind]
    pytest.importorskip("cloudcoil", reason="brings models of KEDA's and the Prometheus operator's kinds")
    model: Any = getattr(import_module(module), name)
    found = of_kind(kind)
    assert found
    for one in found.values():
        taken = model.model_validate(one).model_dump(mode="json", by_alias=True, exclude_unset=True)
        assert taken["spec"] == one["spec"]  # a field that the kind lacks would be gone


def test_every_stage_has_a_deployment_that_runs_it_and_each_command_exists() -> None:
    args = {name: pod["containers"][0]["args"] for name, pod in pods().items()}
    assert {name: args[name] for name in map(worker, STAGES)} == {worker(stage): ["worker", stage] for stage in STAGES}
    others = {"mem-anabranch-gateway", "mem-anabranch-topics", "mem-anabranch-consolidation"}
    assert set(args) - set(map(worker, STAGES)) == others
    assert [refused(command) for command in args.values()] == [None] * len(args)


def test_every_stage_is_scaled_by_the_lag_of_its_group_on_its_input() -> None:
    scaled = of_kind("ScaledObject")
    for step in FLOW:
        spec = scaled[worker(step.name)]["spec"]
        (trigger,) = spec["triggers"]
        assert spec["scaleTargetRef"]["name"] in of_kind("Deployment")
        assert (trigger["metadata"]["consumerGroup"], trigger["metadata"]["topic"]) == (
            group_of(step.name),
            step.source.name,
        )
        assert 1 <= spec["minReplicaCount"] <= spec["maxReplicaCount"] <= LOG_PARTITIONS
        assert "replicas" not in of_kind("Deployment")[worker(step.name)]["spec"]


def test_a_derived_generation_is_scaled_by_its_own_groups_and_topics() -> None:
    made = rendered({"generation": 2})
    scaled = of_kind("ScaledObject", made)
    for step in FLOW:
        told = scaled[worker(step.name)]["spec"]["triggers"][0]["metadata"]
        source = step.source.name if step is FIRST else topic_name(step.source.name, 2)
        assert (told["consumerGroup"], told["topic"]) == (group_of(step.name, 2), source)
    for deployment in of_kind("Deployment", made).values():
        variables = deployment["spec"]["template"]["spec"]["containers"][0]["env"]
        assert {"name": "ANABRANCH_GENERATION", "value": "2"} in variables


def test_there_are_never_more_workers_than_partitions() -> None:
    scaled = of_kind("ScaledObject", rendered({"topics": {"partitions": 6}}))
    assert {one["spec"]["maxReplicaCount"] for one in scaled.values()} == {6}
    for stage in STAGES:
        assert of_kind("Deployment")[worker(stage)]["spec"]["strategy"]["rollingUpdate"]["maxSurge"] == 0


def test_a_stages_own_values_go_before_those_of_all() -> None:
    made = rendered({"worker": {"maxReplicas": 9}, "stages": {"route": {"maxReplicas": 3, "lagThreshold": 7}}})
    scaled = of_kind("ScaledObject", made)
    most = {stage: scaled[worker(stage)]["spec"]["maxReplicaCount"] for stage in STAGES}
    assert most == dict.fromkeys(STAGES, 9) | {"route": 3}
    assert scaled[worker("route")]["spec"]["triggers"][0]["metadata"]["lagThreshold"] == "7"


def test_without_keda_a_stage_has_its_least_number() -> None:
    made = rendered({"keda": {"enabled": False}, "stages": {"route": {"minReplicas": 2}}})
    assert of_kind("ScaledObject", made) == {}
    assert of_kind("Deployment", made)[worker("route")]["spec"]["replicas"] == 2


def test_the_workers_own_figure_can_be_scaled_by_too() -> None:
    made = rendered({"keda": {"prometheusAddress": "http://prometheus:9090"}})
    (_, own) = of_kind("ScaledObject", made)[worker("route")]["spec"]["triggers"]
    assert own["metadata"]["query"] == 'sum(anabranch_lag_events{stage="route", namespace="bots"})'


@pytest.mark.parametrize("stage", STAGES)
def test_a_worker_has_the_time_to_end_and_helps_itself_before_it_is_ended(stage: str) -> None:
    pod = pods()[worker(stage)]
    container = pod["containers"][0]
    probes = {name: container[f"{name}Probe"] for name in ("startup", "liveness", "readiness")}
    pages = {name: (probe["httpGet"]["path"], probe["httpGet"]["port"]) for name, probe in probes.items()}
    assert pages == {
        "startup": ("/healthz", "pages"),
        "liveness": ("/healthz", "pages"),
        "readiness": ("/readyz", "pages"),
    }
    assert pod["terminationGracePeriodSeconds"] >= GRACE + 10
    patience = probes["liveness"]["periodSeconds"] * probes["liveness"]["failureThreshold"]
    assert STILL_S + patience > OVER * STILL_S + 60
    variables = {one["name"]: one for one in container["env"]}
    assert container["ports"] == [{"name": "pages", "containerPort": int(variables["ANABRANCH_WORKER_PORT"]["value"])}]
    assert variables["ANABRANCH_WORKER_HOST"]["valueFrom"] == {"fieldRef": {"fieldPath": "status.podIP"}}


@pytest.mark.parametrize(
    "name", [*map(worker, STAGES), *(f"mem-anabranch-{one}" for one in ("gateway", "topics", "consolidation"))]
)
def test_a_pod_may_do_little_and_writes_where_it_may(name: str) -> None:
    pod = pods()[name]
    (container,) = pod["containers"]
    user = f"USER {pod['securityContext']['runAsUser']}:{pod['securityContext']['runAsGroup']}\n"
    assert user in (DEPLOY / "Containerfile").read_text()
    assert pod["securityContext"]["runAsNonRoot"]
    assert container["securityContext"] == {
        "readOnlyRootFilesystem": True,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }
    assert (pod["automountServiceAccountToken"], pod["enableServiceLinks"]) == (False, False)
    mounted = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert {volume["name"] for volume in pod["volumes"]} == set(mounted)
    assert (mounted["home"], mounted["tmp"]) == ("/var/lib/anabranch", "/tmp")  # noqa: S108 - a mount in a container
    assert {"requests", "limits"} <= set(container["resources"])
    assert wrong_names([one["name"] for one in container["env"]]) == []


def test_secrets_are_named_and_never_held() -> None:
    made = rendered({"qdrant": {"url": "http://q:6333", "apiKeySecret": {"name": "qdrant", "key": "k"}}})
    for pod in pods(made).values():
        (key,) = [one for one in pod["containers"][0]["env"] if one["name"] == "ANABRANCH_QDRANT_API_KEY"]
        assert key == {"name": key["name"], "valueFrom": {"secretKeyRef": {"name": "qdrant", "key": "k"}}}
    assert of_kind("Secret", made) == {}
    gateway = pods()["mem-anabranch-gateway"]
    assert {"name": "keys", "secret": {"secretName": "gateway-keys"}} in gateway["volumes"]


@pytest.mark.parametrize("kind", ["PodDisruptionBudget", "NetworkPolicy", "PodMonitor"])
def test_what_selects_pods_selects_some(kind: str) -> None:
    for name, one in of_kind(kind).items():
        selector = one["spec"].get("selector") or one["spec"]["podSelector"]
        assert any(selector["matchLabels"].items() <= own.items() for own in labels()), name
    if kind == "PodDisruptionBudget":
        assert set(of_kind(kind)) == set(of_kind("Deployment"))


def test_the_service_leads_to_the_gateway() -> None:
    ((name, service),) = of_kind("Service").items()
    selected = [own for own in labels() if service["spec"]["selector"].items() <= own.items()]
    assert [own["app.kubernetes.io/component"] for own in selected] == ["gateway"]
    (monitor,) = of_kind("ServiceMonitor").values()
    assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert monitor["spec"]["endpoints"][0]["port"] == service["spec"]["ports"][0]["name"], name


def test_topics_are_made_before_anything_needs_them() -> None:
    job = of_kind("Job")["mem-anabranch-topics"]
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    assert pods()["mem-anabranch-topics"]["containers"][0]["args"][2:] == ["--replication=3", "--partitions=24"]
    assert of_kind("Job", rendered({"topics": {"apply": False}})) == {}


def test_memory_is_consolidated_each_night_by_one_run_at_a_time() -> None:
    ((name, job),) = of_kind("CronJob").items()
    assert (job["spec"]["schedule"], job["spec"]["timeZone"]) == ("0 3 * * *", "Etc/UTC")
    assert job["spec"]["concurrencyPolicy"] == "Forbid"
    args = pods()[name]["containers"][0]["args"]
    assert (args[0], refused(args)) == ("consolidate", None)
    assert of_kind("CronJob", rendered({"consolidation": {"enabled": False}})) == {}


def test_rules_and_dashboard_are_those_of_the_files() -> None:
    (rule,) = of_kind("PrometheusRule").values()
    (board,) = of_kind("ConfigMap").values()
    assert rule["spec"] == read("chart/files/alerts.yaml")
    assert json.loads(board["data"]["anabranch.json"]) == read("chart/files/dashboard.json")
