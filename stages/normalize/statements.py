"""Facts, attributes and the reason that a turn states, by cue patterns (AdaMem 3.2, E.1).

Patterns of our own: relation extraction that is kept, offline and fits into a millisecond was not to be had. The cues
are English and, for the reason, a few of other languages; facts are recognized in any script.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from schemas.normalized import Snippet
from schemas.span import Span
from stages.normalize.reading import Sentence
from stages.normalize.suspect import hints, is_suspect

MOST_STATEMENTS = 24
"""Facts kept of a turn, and attributes: z_t travels with the turn's record; a document's sentences stay in pieces."""

_LONGEST = 400
"""Characters of a snippet: the bound of a text without full stops."""

_TELLING = 2
"""Tokens beyond small talk from which a sentence states something: below are "sounds great" and "see you there"."""

_I = r"(?:\bi['\u2019]?m\b|\bi am\b)"
_ADVERB = (
    "(?:(?:also|really|just|still|actually|usually|always|currently|now|mostly|absolutely|totally|kind of|a bit) )*"
)
_ATTRIBUTE = re.compile(
    rf"{_I} {_ADVERB}(?:not )?(?:an?|the|from|allergic|vegan|vegetarian|married|single|divorced|engaged|retired"
    r"|pregnant|based in|born|into|afraid|scared of|a fan|good at|bad at|passionate|interested|\d+ years|studying"
    r"|majoring|learning|training)\b"
    rf"|\bi {_ADVERB}(?:live|work|study|teach|grew up|was born|come from|own|have|prefer|love|like|enjoy|adore|hate"
    r"|dislike|can['\u2019]?t stand|don['\u2019]?t (?:like|eat|drink|want|have|enjoy|own)|never (?:eat|drink)|speak"
    r"|play|collect|volunteer)\b"
    r"|\bi['\u2019]ve (?:always |never )?(?:been|had|got|lived|worked|loved|wanted|owned|played)\b"
    r"|\bi used to\b|\bi can['\u2019]?t (?:eat|drink)\b"
    r"|\bmy (?:[\w'\u2019]+ ){1,4}?(?:is|are|was|were)\b|\bmy name['\u2019]?s\b|\bcall me [A-Z]|\bmy favou?rite\b"
    r"|\bwe (?:live|have|own|moved)\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:because|so that|in order to|due to|thanks to|that['\u2019]?s why|which is why|the reason (?:is|was|why|that)"
    r"|on account of|since (?:i|we|you|he|she|it|they|there)(?:['\u2019](?:m|re|s)| (?:am|are|is|can(?:['\u2019]?t)?"
    r"|cannot|do(?:es)?n['\u2019]?t|have to|has to|needs?|wants?|loves?|likes?))"
    r"|porque|ya que|parce que|puisque|weil|perché|omdat|потому что|поскольку)\b"
    r"|因为|因為|由于|由於|からです|ので|なぜなら|왜냐하면|때문에|لأن|क्योंकि",
    re.IGNORECASE,
)
_REASON_TRIGGERS = (
    "because|so that|in order|due to|thanks to|why|the reason|on account|since|porque|ya que|parce que|"
    "puisque|weil|perché|omdat|потому|поскольку|因为|因為|由于|由於|からです|ので|なぜなら|왜냐하면|때문에|لأن|क्योंकि"
).split("|")
"""One of these is in every cue: most turns give no reason, and are done with these."""

_CUES_BEHIND = frozenset({"からです", "ので", "때문에"})
"""Cues that stand behind the reason."""

SMALL_TALK = frozenset(
    "great awesom wow thank amaz realli cool nice good love sound glad hope sure yeah yes yep hey hi hello okay "
    "ok know let see go get got thing way lot time fun bit wonder absolut definit happi welcom congrat bye luck "
    "gonna wanna gotta even much also still alway up out more into about around after while other one back well "
    "come make made take took keep look want like need went say said tell told ask think feel felt give gave put "
    "use us ya oh ah lol yup anyth someth everyth someon everyon yourself myself photo photographi pic pictur "
    "imag actual just too though through over down off away again ever never maybe would could been littl sort "
    "kind stuff".split()
)
"""Tokens (stems) that every chat is full of: they neither make a fact nor tell what a turn is about."""

_QUESTION = re.compile(r"[?\uff1f؟;]\W*$")
_ASKING = re.compile(
    r"^(?:(?:so|and|but|hey|oh|well|wow|ok|okay)[, ]+)*(?:who|what|when|where|why|how|which|whose|do|does|did|are|is"
    r"|can|could|would|will|have|has|should|tell me|let me know)\b[^.!]*\?",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"(?:please|tell|let me|let's|check|keep|take care|have a|good luck|see you|talk to you|thanks|thank you)\b",
    re.IGNORECASE,
)


def is_question(sentence: str) -> bool:
    """Tell whether a sentence asks. A Greek question mark counts, a semicolon inside does not."""
    asks = "?" in sentence and _ASKING.match(sentence[:_LONGEST]) is not None
    return asks or _QUESTION.search(sentence[-8:]) is not None


def statements(text: str, sentences: Sequence[Sentence]) -> tuple[tuple[Snippet, ...], tuple[Snippet, ...]]:
    """Return (facts, attributes): what the turn states, and what it states of its speaker.

    A sentence is one or the other; questions, orders and suspect sentences are neither. Each quotes its span.
    """
    wary = hints(text)
    facts: list[Snippet] = []
    attributes: list[Snippet] = []
    for sentence in sentences:
        if len(facts) >= MOST_STATEMENTS and len(attributes) >= MOST_STATEMENTS:
            break
        into = {"fact": facts, "attribute": attributes}.get(_kind(text, sentence, wary=wary))
        if into is not None and len(into) < MOST_STATEMENTS:
            into.append(snippet(text, sentence.start, sentence.end))
    return tuple(facts), tuple(attributes)


def reason(text: str, sentences: Sequence[Sentence]) -> Snippet | None:
    """Return the first clause that gives a reason, from its cue to the end of its sentence."""
    lowered = text.lower()
    if not any(trigger in lowered for trigger in _REASON_TRIGGERS):
        return None
    for sentence in sentences:
        match = _REASON.search(text, sentence.start, sentence.end)
        if match is not None and not is_question(text[sentence.start : sentence.end]):
            behind = match.group() in _CUES_BEHIND
            return snippet(text, sentence.start if behind else match.start(), sentence.end)
    return None


def snippet(text: str, start: int, end: int) -> Snippet:
    """Return ``[start, end)`` as a snippet, cut at the last word end before its greatest length."""
    if end - start > _LONGEST:
        cut = text.rfind(" ", start + _LONGEST // 2, start + _LONGEST)
        end = cut if cut > 0 else start + _LONGEST
    return Snippet(text=text[start:end], span=Span(start=start, end=end))


def _kind(text: str, sentence: Sentence, *, wary: bool) -> str:
    said = text[sentence.start : min(sentence.end, sentence.start + _LONGEST)]
    if is_question(said) or _ORDER.match(said) or (wary and is_suspect(said)):
        return ""
    if _ATTRIBUTE.search(said):
        return "attribute"
    return "fact" if len(sentence.tokens - SMALL_TALK) >= _TELLING else ""
