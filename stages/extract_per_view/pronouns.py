"""Pronouns of the first and second person replaced by names, verbs made to agree (English)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from schemas.span import Span

_ADVERBS = (
    r"(?:(?:also|always|never|still|really|just|only|usually|often|sometimes|now|currently|recently|actually|even"
    r"|totally|absolutely|definitely|already)\s+)*"
)
_BASE = frozenset(
    "love like hate live work want need think know feel go play eat drink enjoy prefer use study teach run read write "
    "watch own keep hope plan wish believe remember speak drive travel cook bake paint draw sing dance swim hike walk "
    "train practice collect grow make take get see look find try help start spend sleep dream believe miss belong come "
    "adore dislike detest visit volunteer attend consider wear buy sell pay share call meet mean guess agree vote "
    "understand appreciate suffer manage lead build code develop design recommend suggest require".split()
)
"""Verbs that people say about themselves, in the form that needs an -s in the third person."""

_BE = {"am": "is", "are": "is", "was": "was", "were": "was", "have": "has", "do": "does", "don't": "doesn't"}
_BE |= {"haven't": "hasn't", "aren't": "isn't", "weren't": "wasn't", "dont": "doesn't"}
_CLITIC = {"'m": "is", "'re": "is", "'ve": "has", "'ll": "will", "'d": "would"}
_HAD = re.compile(r"\s+(?:been|better|had|never|always|already|\w+ed)\b", re.IGNORECASE)
_FIRST = re.compile(
    rf"(?P<aux>\b(?:am|are|was|were|have|do)\s+)?(?<![\w'])(?P<who>I|i|[Ww]e)(?P<clitic>'(?:m|re|ve|ll|d)\b)?(?!\w|['/.]\w|/)"
    rf"(?:(?P<adverbs>\s+{_ADVERBS})(?P<verb>[a-z]+(?:'t)?)\b)?"
)
_SECOND = re.compile(
    rf"(?P<aux>\b(?:are|were|have|do)\s+)?(?<![\w'])(?P<who>[Yy]ou)(?P<clitic>'(?:re|ve|ll|d)\b)?(?!\w|['/.]\w|\s+(?:guys|all|know)\b|/)"
    rf"(?:(?P<adverbs>\s+{_ADVERBS})(?P<verb>[a-z]+(?:'t)?)\b)?"
)
_FIRST_OTHER = re.compile(
    r"(?<![\w'])(?:(?P<own>my|our|mine|ours)|(?P<object>me|us|myself|ourselves))(?![\w'])", re.IGNORECASE
)
_SECOND_OTHER = re.compile(r"(?<![\w'])(?:(?P<own>your|yours)|(?P<object>yourself))(?![\w'])", re.IGNORECASE)
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u2018": "'"})
_COUNTRY = re.compile(r"US\b")
_NO_AGREEMENT = re.compile(
    r"\b(?:to|for|with|thanks?|at|of|from|about|see|tell|told|help|let|wish|love|make|can|could|will|would|should|shall"
    r"|may|might|must|did|does|do|didn't|doesn't|don't)\s+$",
    re.IGNORECASE,
)
"""Words before "you" or "I" after which the next verb is not theirs, or has no -s: "can you help", "for you go"."""


@dataclass(frozen=True, slots=True)
class Voice:
    """Whose words they are, and to whom they are said where that is certain (exactly two parties known)."""

    speaker: str
    other: str | None = None


Replacement = tuple[int, int, str]

_CLAUSE = (
    r"(?:^|[.,;:!?(\u2014\u2013-]|\b(?:that|because|when|but|so|if|while|since|after|before|then|and|as|where|today"
    r"|yesterday|now|both|what|how|why)\b)[\s\"']*"
)
_WITH = re.compile(
    _CLAUSE + r"(?:(?:[Mm]y|[Oo]ur|[Tt]he)\s+(?:(?:best|older|elder|younger|little|big|old|new|good|ex)\s+)?\w+"
    r"(?:\s+[A-Z][\w'-]*)?|[A-Z][\w'-]*(?:\s+[A-Z][\w'-]*)?|[Yy]ou|[Hh]e|[Ss]he|[Tt]hey)\s+(?:and|&|or)\s+$"
)
"""A person joined to "I" at the beginning of a clause: "Ravi and I live", but not "he sings and I play"."""

_TOGETHER = {"am": "are", "'m": "are", "'re": "are", "'ve": "have"}


def replacements(text: str, span: Span, voice: Voice) -> Iterator[Replacement]:
    """Yield (start, end, words) for the pronouns within ``span``, positions counted in ``text``."""
    sentence = span.of(text).translate(_APOSTROPHES)
    for start, end, words in _all(sentence, voice):
        yield span.start + start, span.start + end, words


def _all(sentence: str, voice: Voice) -> Iterator[Replacement]:
    yield from _subjects(_FIRST, sentence, voice.speaker)
    yield from _others(_FIRST_OTHER, sentence, voice.speaker)
    if voice.other is not None:
        yield from _subjects(_SECOND, sentence, voice.other)
        yield from _others(_SECOND_OTHER, sentence, voice.other)


def _subjects(pattern: re.Pattern[str], sentence: str, name: str) -> Iterator[Replacement]:
    for match in pattern.finditer(sentence):
        yield _subject(match, sentence, name)


def _subject(match: re.Match[str], sentence: str, name: str) -> Replacement:
    clitic, verb = match["clitic"], match["verb"]
    if _WITH.search(sentence[: match.start("who")]):
        return _joined(match, sentence, name)
    if clitic:
        return match.start("who"), match.end("clitic"), f"{name} {_full(clitic, sentence, match.end('clitic'))}"
    if match["aux"]:
        return match.start("aux"), match.end("who"), f"{_BE[match['aux'].strip().lower()]} {name}"
    if verb and not _NO_AGREEMENT.search(sentence[: match.start("who")]):
        agreed = _BE.get(verb) or (_third(verb) if verb in _BASE else verb)
        return match.start("who"), match.end("verb"), f"{name}{match['adverbs']}{agreed}"
    return match.start("who"), match.end("who"), name


def _joined(match: re.Match[str], sentence: str, name: str) -> Replacement:
    """Return the replacement of one of two who do something together: their verb stays in the plural."""
    clitic, verb = match["clitic"], match["verb"]
    if clitic:
        full = _TOGETHER.get(clitic) or _full(clitic, sentence, match.end("clitic"))
        return match.start("who"), match.end("clitic"), f"{name} {full}"
    if verb in _TOGETHER:
        return match.start("who"), match.end("verb"), f"{name}{match['adverbs']}{_TOGETHER[verb]}"
    return match.start("who"), match.end("who"), name


def _full(clitic: str, sentence: str, end: int) -> str:
    if clitic == "'d" and _HAD.match(sentence, end):
        return "had"
    return _CLITIC[clitic]


def _third(verb: str) -> str:
    if verb.endswith(("ch", "sh", "s", "x", "o")):
        return f"{verb}es"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"


def _others(pattern: re.Pattern[str], sentence: str, name: str) -> Iterator[Replacement]:
    for match in pattern.finditer(sentence):
        if not _COUNTRY.match(match.group()):
            yield match.start(), match.end(), f"{name}'s" if match["own"] else name
