"""What a run of consolidation did, for people and as JSON lines: what was merged, why, and what was left apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

import typer

from infra.cli import output
from infra.nights.api import Told
from schemas.consolidation import Act, Decision
from stages.consolidate import Apart

_LONG: Final = 160
"""Characters of a text that a report for people shows: more is read with `records`."""

_ACTS: Final = tuple(Act)


def objects(told: Told, *, dry: bool) -> Iterator[dict[str, Any]]:
    """Give a JSON object for each decision, for what was left apart, and for the space."""
    where = {"space": told.space, "run": told.run}
    for one in told.decisions:
        yield where | _decision(told, one)
    for apart in told.apart:
        shown = {"ids": apart.ids, "texts": apart.texts, "reason": apart.reason, "score": apart.score}
        yield where | {"what": "apart"} | shown
    yield where | {"what": "space", "dry_run": dry} | counts(told)


def _decision(told: Told, one: Decision) -> dict[str, Any]:
    sources = [{"id": by.id, "text": told.texts.get(by.id), "retired": by.retired} for by in one.sources]
    made = [{"kind": record.kind.value, "text": record.text} for record in one.records]
    return {
        "what": one.act.value,
        "sources": sources,
        "records": made,
        "reason": one.reason,
        "stale": one in told.stale,
    }


def counts(told: Told) -> dict[str, Any]:
    """Return how much of what was done in a space: decisions by act, stale ones apart, and the records they retired."""
    done = [one for one in told.decisions if one not in told.stale]
    acts = Counter(one.act for one in done)
    return {
        **{act.value: acts[act] for act in _ACTS},
        "retired": sum(len(one.retired) for one in done),
        "apart": len(told.apart),
        "stale": len(told.stale),
        "degraded": told.degraded,
        "left": told.left,
        "drained": told.drained,
        "events": told.events,
    }


def show(told: Told, *, dry: bool) -> None:
    """Print what became of a space, or would, if anything did."""
    if not (told.decisions or told.apart or told.drained or told.left):
        return
    typer.echo(f"{told.space}  {told.run}")
    if told.drained:
        typer.echo(f"  nobody spoke here of late: working memory {_routed(dry=dry)}")
    for one in told.decisions:
        _show_decision(told, one)
    for apart in told.apart:
        _show_apart(apart)
    for line in _more(told):
        typer.echo(f"  {line}")


def _routed(*, dry: bool) -> str:
    return f"{'would be' if dry else 'is'} routed"


def _show_decision(told: Told, one: Decision) -> None:
    typer.echo(
        f"  {one.act.value}{' (stale: left as it was)' if one in told.stale else ''}: {output.spelled(one.reason)}"
    )
    sources = Counter((by.retired, _brief(told.texts.get(by.id, by.id))) for by in one.sources)
    for (retired, text), times in sources.items():
        typer.echo(f"    {'-' if retired else ' '} {text}{f' ({times} times)' if times > 1 else ''}")
    for record in one.records:
        typer.echo(f"    + {_brief(record.text)}")


def _show_apart(apart: Apart) -> None:
    near = "" if apart.score is None else f" ({apart.score / 1000:.3f})"
    typer.echo(f"  left apart{near}: {output.spelled(apart.reason)}")
    for text in apart.texts:
        typer.echo(f"      {_brief(text)}")


def _more(told: Told) -> Iterator[str]:
    if told.stale:
        yield f"{len(told.stale)} stale: what they rest on had changed meanwhile; the next run takes it up"
    if told.degraded:
        yield f"{output.counted(told.degraded, 'answer')} of the model of no use: rules stood in"
    if told.left:
        more = output.counted(told.left, "decision")
        yield f"left to the next run, which may retire as many again (--most): {more}"


def _brief(text: str) -> str:
    shown = output.spelled(text)
    return shown if len(shown) <= _LONG else f"{shown[: _LONG - 1]}…"


def total(every: Iterable[Told], *, dry: bool) -> str:
    """Return the last line of a report."""
    told = list(every)
    sums = Counter[str]()
    for one in told:
        sums.update({name: int(count) for name, count in counts(one).items()})
    drained = output.counted(sums["drained"], "space")
    routed = [f"working memory of {drained} {_routed(dry=dry)}"] if sums["drained"] else []
    acts = ", ".join([*routed, *(f"{sums[act]} {act.value}" for act in _ACTS if sums[act])]) or "nothing to do"
    retired, apart = output.counted(sums["retired"], "record"), output.counted(sums["apart"], "group")
    spaces = f"{output.counted(len(told), 'space')}{' (nothing was published)' if dry else ''}"
    return f"{spaces}: {acts}; {retired} retired, {apart} left apart, {sums['stale']} stale."
