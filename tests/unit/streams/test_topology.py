"""The topology is a value: it prints, and a wrong wiring is a type error."""

from __future__ import annotations

from schemas.space import Space
from streams.topology import LOCALIZED, NORMALIZED, TURNS, Node
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


def test_a_wrong_wiring_is_a_type_error() -> None:
    """The ignores below are errors themselves (``warn_unused_ignores``) as soon as mypy accepts the wiring."""
    right = Node(FakeLocalize(), NORMALIZED, LOCALIZED)
    Node(FakeLocalize(), TURNS, LOCALIZED)  # type: ignore[misc]  # reads another type than the stage takes
    Node(FakeLocalize(), NORMALIZED, TURNS)  # type: ignore[misc]  # writes another type than the stage gives
    assert right.stage.initial(Space("a/b")) == FakeLocalize().initial("a/b")


def test_it_prints_as_text_and_as_mermaid() -> None:
    text, mermaid = topology().text(), topology().mermaid()
    assert text.splitlines()[0] == "turns -> normalize -> turns.normalized"
    assert "turns.routed -> commit -> memory" in text
    assert mermaid.startswith("flowchart LR")
    assert mermaid.count("-->") == 10
