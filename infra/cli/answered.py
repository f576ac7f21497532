"""An answer for people: what it says, what it rests on, and the steps that led to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich.text import Text

from infra.cli.output import console, spelled, when
from schemas.answer import Answer, Citation, Reason, Step
from schemas.recall import Hit

_INDENT: Final = "    "

_REASONS: Final = {
    Reason.NOT_IN_MEMORY: "Not in memory.",
    Reason.NO_MODEL: "No answer: no language model is named (ANABRANCH_LANGUAGE_MODEL). This is the evidence.",
    Reason.MODEL_UNAVAILABLE: "No answer: the language model does not answer. This is the evidence.",
    Reason.MODEL_UNUSABLE: "No answer: what the language model said is of no use. This is the evidence.",
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
    for shown in answer.citations or answer.evidence:
        out.print(_rests(shown))
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
    took = f"{used.searches} searches, {used.requests} requests, {answer.took_ms:.0f} ms"
    late = f"{answer.behind} events are" if answer.behind else "what --after names is"
    stale = f"; stale: {late} not in memory yet" if answer.stale else ""
    withheld = f"; {used.withheld} suspect records were not shown to the model" if used.withheld else ""
    return f"{took}; research ended: {answer.research.value.replace('_', ' ')}{withheld}{stale}\n"
