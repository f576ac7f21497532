"""An answer for people: what it says, what it rests on, and the steps that led to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich.text import Text

from infra.cli.output import console, counted, spelled, when
from schemas.answer import Answer, Citation, Reason, Research, Step, Used
from schemas.recall import Hit

_INDENT: Final = "    "

_MOST: Final = 10
"""Pieces of evidence that are shown where there is no answer: as many as a recall gives; research finds some tens."""

_REASONS: Final = {
    Reason.NOT_IN_MEMORY: "Not in memory.",
    Reason.NO_MODEL: "No answer: no language model is named (ANABRANCH_LANGUAGE_MODEL). This is the evidence.",
    Reason.MODEL_UNAVAILABLE: (
        "No answer: the language model does not answer (see `anabranch models check`). This is the evidence."
    ),
    Reason.MODEL_UNUSABLE: (
        "No answer: what the language model says is of no use, or the question too long for it. This is the evidence."
    ),
    Reason.OUT_OF_BUDGET: "No answer: no piece of the evidence fits into the budget (--budget). This is the evidence.",
    Reason.OUT_OF_REQUESTS: "No answer: no request to the language model was allowed. This is the evidence.",
    Reason.OUT_OF_TIME: "No answer: the time was over (ANABRANCH_ANSWER_SECONDS). This is the evidence.",
    Reason.SUSPECT: "No answer: all evidence reads as instructions to a model, which none is shown. It is this.",
}


def show_answer(question: str, answer: Answer) -> None:
    """Print an answer with its citations, or why there is none and the evidence."""
    out = console()
    out.print(Text(question, style="bold"))
    out.print(_said(answer))
    for step in answer.trace:
        out.print(Text(_step(step), style="dim"))
    if answer.reason is Reason.NOT_IN_MEMORY and answer.evidence:
        out.print(Text("What comes nearest:", style="dim"))
    for shown in answer.citations or answer.evidence[:_MOST]:
        out.print(_rests(shown))
    if more := len(answer.evidence[_MOST:]):
        out.print(Text(f"  {more} more: --json shows all", style="dim"))
    out.print(Text(_note(answer), style="yellow" if answer.stale else "dim"))


def _said(answer: Answer) -> Text:
    if answer.answer is None:
        return Text(_REASONS[answer.reason or Reason.NOT_IN_MEMORY], style="yellow")
    sure = f"{answer.confidence.value if answer.confidence else 'no'} confidence"
    doubt = ", inferred" if answer.inferred else ""
    return Text.assemble((spelled(answer.answer, lines=True), "green"), (f"   ({sure}{doubt})", "dim"))


def _rests(shown: Citation | Hit) -> Text:
    who = spelled(shown.speaker or shown.kind.value)
    head = (f"{spelled(', '.join(shown.turn_ids))} ", "cyan"), (f"{who}, {when(shown.at)}: ", "magenta")
    return Text.assemble("  ", *head, spelled(shown.text, lines=True).replace("\n", f"\n{_INDENT}"))


def _step(step: Step) -> str:
    return "\n".join(f"  {line}" for line in _lines(step))


def _lines(step: Step) -> Iterator[str]:
    asked = f" [{step.prompt}]" if step.prompt else ""
    yield f"{step.step.value}: {step.outcome}{asked}"
    yield from (f"{_INDENT}? {spelled(query)}" for query in step.queries)
    if step.summary:
        yield f"{_INDENT}{spelled(step.summary)}"
    if step.turn_ids:
        yield f"{_INDENT}turns {spelled(', '.join(step.turn_ids))}"


def _note(answer: Answer) -> str:
    """Return what the answer took, how the research ended, and how fresh it is."""
    used = answer.used
    spent = counted(used.searches, "search", "searches"), counted(used.requests, "request"), f"{answer.took_ms:.0f} ms"
    ended = "" if answer.research is Research.NONE else f"; research ended: {answer.research.value.replace('_', ' ')}"
    late = counted(answer.behind, "event is", "events are") if answer.behind else "what --after names is"
    stale = f"; stale: {late} not in memory yet" if answer.stale else ""
    return f"{', '.join(spent)}{ended}{_left_out(used)}{stale}\n"


def _left_out(used: Used) -> str:
    """Return what the model was not shown, or was not let say."""
    withheld = (
        f"; not shown to the model: {counted(used.withheld, 'suspect record')}"
        if used.withheld and used.requests
        else ""
    )
    unshown = f"; without room in the budget: {counted(used.unshown, 'piece')}" if used.unshown else ""
    refused = f"; refused: {counted(used.refused, 'invented citation')}" if used.refused else ""
    return f"{withheld}{unshown}{refused}"
