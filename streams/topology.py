"""The whole dataflow as one value: which topic feeds which stage, and where its output goes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from schemas.committed import Committed
from schemas.control import Passed
from schemas.extracted import Extracted
from schemas.header import Skipped
from schemas.localized import Localized
from schemas.normalized import Normalized
from schemas.numbered import Numbered
from schemas.routed import Routed
from stages.contract import Stage, StageState
from streams.codec import Codec, codec

T = TypeVar("T")
In = TypeVar("In")
Out = TypeVar("Out")
State = TypeVar("State", bound=StageState)


@dataclass(frozen=True, slots=True)
class Topic(Generic[T]):
    """A named stream of messages of one type."""

    name: str
    codec: Codec[T]


TURNS: Topic[Numbered] = Topic("turns", codec(Numbered))
NORMALIZED: Topic[Normalized | Passed] = Topic("turns.normalized", codec(Normalized | Passed))
LOCALIZED: Topic[Localized | Passed] = Topic("turns.localized", codec(Localized | Passed))
EXTRACTED: Topic[Extracted | Passed] = Topic("turns.extracted", codec(Extracted | Passed))
ROUTED: Topic[Routed | Skipped] = Topic("turns.routed", codec(Routed | Skipped))
MEMORY: Topic[Committed] = Topic("memory", codec(Committed))


@dataclass(frozen=True, slots=True)
class Step(Generic[In, Out]):
    """A stage's place in the flow: its name and the topics that it stands between. Knowing it needs no model."""

    name: str
    source: Topic[In]
    target: Topic[Out]

    def run_by(self, stage: Stage[In, Out, State]) -> Node[In, Out, State]:
        """Return the step with the stage that takes it. A stage whose types do not fit is a type error.

        Raises:
            ValueError: if the stage bears another name: states are kept under it.
        """
        if stage.name != self.name:
            msg = f"the stage {stage.name!r} cannot take the step {self.name!r}"
            raise ValueError(msg)
        return Node(self.name, self.source, self.target, stage)


AnyStep = Step[Any, Any]

NORMALIZE = Step("normalize", TURNS, NORMALIZED)
LOCALIZE_STATE = Step("localize_state", NORMALIZED, LOCALIZED)
EXTRACT_PER_VIEW = Step("extract_per_view", LOCALIZED, EXTRACTED)
ROUTE = Step("route", EXTRACTED, ROUTED)
COMMIT = Step("commit", ROUTED, MEMORY)

FLOW: tuple[AnyStep, ...] = (NORMALIZE, LOCALIZE_STATE, EXTRACT_PER_VIEW, ROUTE, COMMIT)
"""The whole dataflow, in its order."""

FIRST, LAST = FLOW[0], FLOW[-1]
"""The step that numbers events and waits for the watermark; the only writer of memory and index."""


def text() -> str:
    """Return the flow as text, a stage a line."""
    return "\n".join(f"{step.source.name} -> {step.name} -> {step.target.name}" for step in FLOW)


def mermaid() -> str:
    """Return the flow as a Mermaid flowchart."""
    lines = [
        f"    {_ident(step.source)}([{step.source.name}]) --> {step.name}[{step.name}]\n"
        f"    {step.name} --> {_ident(step.target)}([{step.target.name}])"
        for step in FLOW
    ]
    return "\n".join(["flowchart LR", *lines])


def _ident(topic: Topic[Any]) -> str:
    return f"topic_{topic.name.replace('.', '_')}"


@dataclass(frozen=True, slots=True)
class Node(Step[In, Out], Generic[In, Out, State]):
    """A step with the stage that takes it."""

    stage: Stage[In, Out, State]


AnyNode = Node[Any, Any, Any]


@dataclass(frozen=True, slots=True)
class Topology:
    """The flow with its stages, in its order: what a runtime runs."""

    nodes: tuple[AnyNode, ...]

    def __iter__(self) -> Iterator[AnyNode]:
        return iter(self.nodes)

    @property
    def first(self) -> AnyNode:
        """The node of ``FIRST``."""
        return self.nodes[0]

    @property
    def last(self) -> AnyNode:
        """The node of ``LAST``."""
        return self.nodes[-1]

    def after(self, node: AnyNode) -> AnyNode | None:
        """Return the node that reads what ``node`` writes."""
        return next((other for other in self.nodes if other.source is node.target), None)


def build(
    normalize: Stage[Numbered, Normalized | Passed, Any],
    localize_state: Stage[Normalized | Passed, Localized | Passed, Any],
    extract_per_view: Stage[Localized | Passed, Extracted | Passed, Any],
    route: Stage[Extracted | Passed, Routed, Any],
    commit: Stage[Routed | Skipped, Committed, Any],
) -> Topology:
    """Wire the five stages."""
    return Topology(
        (
            NORMALIZE.run_by(normalize),
            LOCALIZE_STATE.run_by(localize_state),
            EXTRACT_PER_VIEW.run_by(extract_per_view),
            ROUTE.run_by(route),
            COMMIT.run_by(commit),
        )
    )
