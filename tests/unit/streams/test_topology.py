"""The topology is a value: it prints without a model, and a wrong wiring is a type error."""

from __future__ import annotations

import pytest

from schemas.space import Space
from streams.topology import (
    FIRST,
    FLOW,
    LAST,
    LOCALIZE_STATE,
    LOCALIZED,
    NORMALIZED,
    ROUTE,
    TURNS,
    Step,
    mermaid,
    text,
)
from tests.fakes.runtime import topology
from tests.fakes.stages import FakeLocalize


def test_each_stage_reads_what_the_one_before_writes() -> None:
    flow = topology()
    assert [node.name for node in flow] == ["normalize", "localize_state", "extract_per_view", "route", "commit"]
    for node, after in zip(flow.nodes, flow.nodes[1:], strict=False):
        assert node.target is after.source
        assert flow.after(node) is after
    assert flow.after(flow.last) is None
    assert flow.first.source is TURNS


def test_the_stages_run_the_steps_of_the_flow_in_its_order() -> None:
    flow = topology()
    assert [(node.name, node.source, node.target) for node in flow] == [(s.name, s.source, s.target) for s in FLOW]
    assert (flow.first.name, flow.last.name) == (FIRST.name, LAST.name)


def test_a_wrong_wiring_is_a_type_error() -> None:
    """The ignores below are errors themselves (``warn_unused_ignores``) as soon as mypy accepts the wiring."""
    right = LOCALIZE_STATE.run_by(FakeLocalize())
    Step("localize_state", TURNS, LOCALIZED).run_by(FakeLocalize())  # type: ignore[arg-type]  # it takes another type
    Step("localize_state", NORMALIZED, TURNS).run_by(FakeLocalize())  # type: ignore[arg-type]  # it gives another type
    assert right.stage.initial(Space("a/b")) == FakeLocalize().initial("a/b")


def test_a_stage_of_another_name_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'localize_state' cannot take the step 'route'"):
        ROUTE.run_by(FakeLocalize())  # type: ignore[arg-type]  # the types do not fit either


def test_it_prints_as_text_and_as_mermaid() -> None:
    assert text().splitlines()[0] == "turns -> normalize -> turns.normalized"
    assert "turns.routed -> commit -> memory" in text()
    assert mermaid().startswith("flowchart LR")
    assert mermaid().count("-->") == 10
