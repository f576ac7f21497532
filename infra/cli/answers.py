"""Answers for people: hits as a table, a bundle as lines."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from infra.cli.output import console, spelled, when
from schemas.recall import Bundle, Hit, Recalled

_INDENT = " " * 11


def show_recalled(question: str, recalled: Recalled) -> None:
    """Print the hits of a question as a table, best first."""
    out = console()
    out.print(Text(question, style="bold"))
    table = Table(box=None, header_style="dim", pad_edge=False)
    table.add_column("#", justify="right", style="dim")
    table.add_column("turns", style="cyan", overflow="fold", max_width=24)
    table.add_column("who, when", overflow="fold", max_width=28)
    table.add_column("text", overflow="fold", ratio=1)
    table.add_column("score", justify="right", style="green")
    for rank, hit in enumerate(recalled.hits, start=1):
        text = Text(spelled(hit.text, lines=True))
        table.add_row(str(rank), spelled(", ".join(hit.turn_ids)), _said(hit), text, f"{hit.score:.3f}")
    if recalled.hits:
        out.print(table)
    else:
        out.print(Text("Nothing found.", style="dim"))
    out.print(Text(_note(recalled), style="yellow" if recalled.stale else "dim"))


def _said(hit: Hit) -> Text:
    return Text.assemble((spelled(hit.speaker or hit.kind.value), "magenta"), f"\n{when(hit.at)}")


def _note(recalled: Recalled) -> str:
    """Return how long it took, how fresh it is, and what it lacks."""
    late = f"{recalled.behind} events are" if recalled.behind else "what --after names is"
    stale = f"; stale: {late} not in memory yet" if recalled.stale else ""
    without = f"; without the {' and the '.join(recalled.degraded)}: no answer" if recalled.degraded else ""
    return f"{len(recalled.hits)} found in {recalled.took_ms:.0f} ms{stale}{without}\n"


def show_bundle(bundle: Bundle) -> None:
    """Print the lines of a bundle with their turns and times.

    What goes on below a line is indented: only a line of the bundle begins at the margin.
    """
    out = console()
    placed = bundle.placement
    where = f"continues {spelled(placed.parent_turn_id)}" if placed.parent_turn_id else "opens a new branch"
    out.print(Text(f"{where} ({placed.rule.value}), {bundle.tokens} tokens", style="bold"))
    for line in bundle.lines:
        head = (
            (f"{line.part.value:<10} ", "dim"),
            (f"{spelled(', '.join(line.turn_ids))} ", "cyan"),
            (f"{when(line.at)} ", "magenta"),
        )
        out.print(Text.assemble(*head, spelled(line.text, lines=True).replace("\n", f"\n{_INDENT}")))
