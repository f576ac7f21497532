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
class Node(Generic[In, Out, State]):
    """A stage between two topics. A wiring whose types do not fit is a type error."""

    stage: Stage[In, Out, State]
    source: Topic[In]
    target: Topic[Out]

    @property
    def name(self) -> str:
        """The stage's name."""
        return self.stage.name


AnyNode = Node[Any, Any, Any]


@dataclass(frozen=True, slots=True)
class Topology:
    """Nodes in the order of the flow: the first numbers events, the last writes memory."""

    nodes: tuple[AnyNode, ...]

    def __iter__(self) -> Iterator[AnyNode]:
        return iter(self.nodes)

    @property
    def first(self) -> AnyNode:
        """The stage that numbers events and waits for the watermark."""
        return self.nodes[0]

    @property
    def last(self) -> AnyNode:
        """The only writer of memory and index."""
        return self.nodes[-1]

    def after(self, node: AnyNode) -> AnyNode | None:
        """Return the node that reads what ``node`` writes."""
        return next((other for other in self.nodes if other.source is node.target), None)

    def text(self) -> str:
        """Return the flow as text, a stage a line."""
        return "\n".join(f"{node.source.name} -> {node.name} -> {node.target.name}" for node in self.nodes)

    def mermaid(self) -> str:
        """Return the flow as a Mermaid flowchart."""
        lines = [
            f"    {_ident(node.source)}([{node.source.name}]) --> {node.name}[{node.name}]\n"
            f"    {node.name} --> {_ident(node.target)}([{node.target.name}])"
            for node in self.nodes
        ]
        return "\n".join(["flowchart LR", *lines])


def _ident(topic: Topic[Any]) -> str:
    return f"topic_{topic.name.replace('.', '_')}"


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
            Node(normalize, TURNS, NORMALIZED),
            Node(localize_state, NORMALIZED, LOCALIZED),
            Node(extract_per_view, LOCALIZED, EXTRACTED),
            Node(route, EXTRACTED, ROUTED),
            Node(commit, ROUTED, MEMORY),
        )
    )
