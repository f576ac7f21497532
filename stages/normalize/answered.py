"""z_t from what a model said of a turn, as far as the turn bears it out (mechanics, normalize 3 and 6).

Of a turn shaped as instructions nothing is believed but its own words: no attribute, and topic and summary by rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from schemas.normalized import Snippet, Understanding
from stages.normalize.asking import Answer
from stages.normalize.clean import clean
from stages.normalize.quoted import located
from stages.normalize.reading import Sentence
from stages.normalize.statements import MOST_STATEMENTS, snippet, statements
from stages.normalize.suspect import is_suspect
from stages.normalize.understanding import shortened


class Said(NamedTuple):
    """What a turn says: its text, how much of it a model was shown, its sentences, and whether it is suspect."""

    text: str
    shown: int
    sentences: Sequence[Sentence]
    suspect: bool


class Answered(NamedTuple):
    """z_t, whether it is by rules since the answer was no use, and how many quotations the turn does not have."""

    z: Understanding
    degraded: bool = False
    unquoted: int = 0


def answered(answer: Answer, speaker: str, said: Said, rules: Understanding) -> Answered:
    """Return z_t of a turn by what a model said of it; ``rules`` is z_t by rules, which gives all the rest."""
    attributes = _snippets(answer.attributes, said)
    facts = [each for each in _snippets(answer.facts, said) if each not in attributes]
    reason = next(_snippets_of([answer.reason], said), None)
    beyond = statements(said.text, [each for each in said.sentences if each.start >= said.shown])
    found = {
        "attitude": answer.attitude,
        "reason": reason,
        "facts": (*facts, *beyond[0])[:MOST_STATEMENTS],
        "attributes": () if said.suspect else (*attributes, *beyond[1])[:MOST_STATEMENTS],
    }
    z = rules.model_copy(update=found if said.suspect else {**found, **_told(answer, speaker, rules)})
    unquoted = sum(located(said.text[: said.shown], each) is None for each in answer.quotes())
    return Answered(z, unquoted=unquoted)


def unanswered(said: Said, rules: Understanding) -> Answered:
    """Return z_t of a turn of which a model said nothing of use."""
    return Answered(rules.model_copy(update={"attributes": ()}) if said.suspect else rules, degraded=True)


def _told(answer: Answer, speaker: str, rules: Understanding) -> dict[str, str]:
    """Return topic and summary as they may stand in memory; the summary names its speaker."""
    topic, summary = _line(answer.topic), shortened(_line(answer.summary))
    named = any(name.casefold() in summary.casefold() for name in (speaker, *speaker.split()[:1]))
    return {
        "topic": topic if any(char.isalnum() for char in topic) else rules.topic,
        "summary": summary if named else f"{speaker}: {summary}",
    }


def _line(text: str) -> str:
    return " ".join(clean(text).split())


def _snippets(quotes: Iterable[str], said: Said) -> tuple[Snippet, ...]:
    """Return what is quoted, each place once, in the order of the text."""
    distinct = {(each.span.start, each.span.end): each for each in _snippets_of(quotes, said)}
    return tuple(distinct[place] for place in sorted(distinct))


def _snippets_of(quotes: Iterable[str], said: Said) -> Iterator[Snippet]:
    shown = said.text[: said.shown]
    for quote in quotes:
        span = located(shown, quote)
        if span is not None and not (said.suspect and is_suspect(span.of(shown))):
            yield snippet(shown, span.start, span.end)
