"""Deictic mentions bound to the one thing that they can stand for (mechanics, normalize 5).

A wrong binding puts a false memory beside a true one, so a mention is bound only where a single named thing of its
class is near, and nothing of that class without a name came after it. All else stays unbound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from schemas.normalized import Mention
from schemas.span import Span
from stages.normalize.classes import CLASS_OF, NAME, PLACES, PLAYED, SCREEN, SOUND, TITLE, UNSPACED_OF, WORKS, fits
from stages.normalize.things import Thing
from stages.text.cued import Cued


def _cued(word: str, pattern: str) -> Cued:
    return Cued(re.compile(pattern, re.IGNORECASE), (word,))


_NOUN = "|".join(sorted(CLASS_OF, key=len, reverse=True))
_PHRASE = Cued(
    re.compile(
        r"\b(this|that|est[ea]|es[ea]|cet?|cette|diese[rsmn]?|это|эта|эту|этот) (?:(?P<word>\w+) )?"
        rf"(?P<noun>{_NOUN})\b(?=(?P<after>.{{0,24}}))",
        re.IGNORECASE | re.DOTALL,
    ),
    ("this ", "that ", "este ", "esta ", "ese ", "esa ", "ce ", "cet ", "cette ", "diese"),
)
_NEUTRAL = frozenset({"same", "particular", "whole", "very", "entire", "first"})
"""Words between demonstrative and noun that leave the thing the same; "this amazing book" brings up another."""

_NEW = re.compile(
    r" (?:i|you|we|he|she|they|by|about|from|which|where|who|that|of|club|store|shop|shelf|cover|award|fair|night|room"
    r"|day|idea|design|console|series|recommendation|called|named|titled)\b| [A-Z]",
)
"""What follows a mention that says itself which thing it means, or is a word of a compound."""

_SHOWS = re.compile(
    r"(?:['\u2019]s|\W*(?:$|\n)|[,.!?;)]| (?:is|was|looks?|sounds?|has|and|but|so|too|yet|before|again|really)\b)"
)
"""What follows "that show" where it isn't a verb ("studies that show no effect")."""

_CALLED = re.compile(r"[^.!?\n]{0,40}?\b(?:called|titled|named)[:,]? $|['\u2019]s $| is $", re.IGNORECASE)
_CJK = Cued(
    re.compile(rf"(?:这|那|這|こ|そ|あ)(?P<noun>{'|'.join(sorted(UNSPACED_OF, key=len, reverse=True))})"),
    ("这", "那", "這", "こ", "そ", "あ"),
)
_IT = _cued(
    " it",
    r"\b(?P<verb>read|reading|reread|finish|finished|watch|watched|watching|seen|saw|listen to|listened to|listening to"
    r"|hear|heard|play|played|playing|beat|visit|visited|recommend|recommended|enjoy|enjoyed|enjoying|loved|liked|try"
    r"|tried) (?P<it>it)\b(?!['\u2019]| (?:when|if|that|how|is|was|would|will|all|out loud)\b)",
)
_IT_IS = _cued(
    "it",
    r"\b(?P<it>it)(?:['\u2019]s| is| was) (?:(?:really|just|also|such|like|actually) )?(?:an?|the|one of)\b"
    rf"[^.!?\n]{{0,30}}?\b(?P<noun>{_NOUN})s?\b(?! (?:club|store|shop|night|fair))",
)
_FITS_VERB = {
    "read": {"book", "article"},
    "finish": {"book", "film", "series", "game", "course", PLAYED, SCREEN},
    "watch": {"film", "series", SCREEN},
    "see": {"film", "series", SCREEN},
    "hear": {"song", "album", "podcast", SOUND},
    "play": {"game", "song", PLAYED},
    "visit": PLACES,
}
_STEMS = (
    ("re?read", "read"),
    ("finish|beat", "finish"),
    ("watch", "watch"),
    ("seen|saw", "see"),
    ("listen|hear", "hear"),
    ("play", "play"),
    ("visit", "visit"),
)
"""Pattern of a verb's forms: the verb. Those that are not here fit any work."""

_THERE = _cued(
    " there",
    r"\b(?:been|be|go|going|went|gone|lives?|living|lived|stay|stayed|staying|visit|work|working|worked|eat|ate|eating"
    r"|moved?|moving|arrived?|from|you['\u2019]re|i['\u2019]m|we['\u2019]re|was|were|while|travel(?:l?ed|l?ing)?|trips?)"
    r"(?: back| out| over| down| up)? (?P<there>there)\b"
    r"(?!['\u2019]| (?:is|are|was|were|will|would|has|have|for (?:me|you|him|her|them|us|each))\b)",
)
_NEAR = 240
"""Characters between a name and an "it" or "there" of the same turn: two sentences."""

_TIERS = 2
"""The turn itself and the one before it: what they name comes to mind before anything earlier."""

_CERTAIN, _SURE, _FAIR = 0.95, 0.9, 0.8
"""Confidence: the turn itself says the name; the class matches one thing; the class is unknown or the word bare."""


@dataclass(frozen=True, slots=True)
class Nearby:
    """The things of a neighbouring turn, in order of appearance."""

    turn_id: str
    things: tuple[Thing, ...]


def points(text: str) -> bool:
    """Tell whether ``text`` has a deictic mention, bound or not; nineteen turns in twenty have none."""
    return any(pattern.search(text) is not None for pattern in (_PHRASE, _CJK, _IT, _IT_IS, _THERE))


def mentions(text: str, own: Nearby, before: Sequence[Nearby], captions_at: int) -> tuple[Mention, ...]:
    """Return the bound mentions of ``text`` in order.

    ``own`` has the turn's things, ``before`` those of the turns before it, newest last; captions begin at
    ``captions_at``.
    """
    found = [*_phrases(text, own, before, captions_at), *_its(text, own, before), *_theres(text, own, before)]
    return tuple(sorted(found, key=lambda mention: (mention.span.start, mention.span.end)))


def _phrases(text: str, own: Nearby, before: Sequence[Nearby], captions_at: int) -> Iterator[Mention]:
    for match in _PHRASE.finditer(text):
        kind, span = CLASS_OF[match["noun"].lower()], Span(start=match.start(), end=match.end("noun"))
        called = _called(text, span.end, kind, own)
        if called is not None:
            yield _bound(text, span, (called, own.turn_id), _CERTAIN)
        elif _points_back(match) and not _pictured(text, match, captions_at):
            yield from _resolved(text, span, kind, own, before)
    for match in _CJK.finditer(text):
        yield from _resolved(text, Span(start=match.start(), end=match.end()), UNSPACED_OF[match["noun"]], own, before)


def _called(text: str, end: int, kind: str, own: Nearby) -> Thing | None:
    """Return the thing that the mention itself names: "this game is called X"."""
    for thing in own.things:
        if thing.name and end < thing.start <= end + _NEAR and fits(kind, thing.kind):
            return thing if _CALLED.fullmatch(text[end : thing.start]) else None
    return None


def _points_back(match: re.Match[str]) -> bool:
    word, after = (match["word"] or "").lower(), match["after"]
    if _NEW.match(after) or (match["noun"].lower() == "show" and not _SHOWS.match(after)):
        return False
    return not word or word in _NEUTRAL


def _pictured(text: str, match: re.Match[str], captions_at: int) -> bool:
    """Tell whether a picture of the same turn may be what "this" points at."""
    noun = re.compile(rf"\b{re.escape(match['noun'])}", re.IGNORECASE)
    return match[1].lower() == "this" and noun.search(text, captions_at) is not None


def _resolved(text: str, span: Span, kind: str, own: Nearby, before: Sequence[Nearby]) -> Iterator[Mention]:
    here = Nearby(own.turn_id, tuple(thing for thing in own.things if thing.end <= span.start))
    single = _single(kind, (here, *before[::-1]))
    if single is not None:
        yield _bound(text, span, single, _FAIR if single[0].kind == TITLE else _SURE)


def _single(kind: str, turns: Sequence[Nearby]) -> tuple[Thing, str] | None:
    """Return the only thing that fits in the turn itself, else in the one before, else in all the others.

    ``turns`` has the newest first. A thing of the class without a name, or a name of no known class that may be a
    place, hides all before it.
    """
    kept: list[tuple[Thing, str]] = []
    for distance, turn in enumerate(turns):
        for thing in reversed(turn.things):
            if _rivals(kind, thing):
                return _sole(kept)
            if thing.name and fits(kind, thing.kind):
                kept.append((thing, turn.turn_id))
        if kept and distance < _TIERS:
            return _sole(kept)
    return _sole(kept)


def _rivals(kind: str, thing: Thing) -> bool:
    return (not thing.name and fits(kind, thing.kind)) or (thing.kind == NAME and kind in PLACES)


def _sole(kept: Sequence[tuple[Thing, str]]) -> tuple[Thing, str] | None:
    return kept[0] if len({thing.name.casefold() for thing, _ in kept}) == 1 else None


def _its(text: str, own: Nearby, before: Sequence[Nearby]) -> Iterator[Mention]:
    for match in _IT.finditer(text):
        kinds = _kinds(match["verb"].lower())
        single = _only(match.start(), own, before, WORKS | PLACES | {SCREEN, SOUND, PLAYED, TITLE})
        if single is not None and (single[0].kind in kinds or (single[0].kind == TITLE and not kinds & PLACES)):
            yield _bound(text, Span(start=match.start("it"), end=match.end("it")), single, _FAIR)
    for match in _IT_IS.finditer(text):
        kind = CLASS_OF[match["noun"].lower()]
        single = _only(match.start(), own, before, WORKS | PLACES | {SCREEN, SOUND, PLAYED, TITLE})
        if single is not None and fits(kind, single[0].kind):
            yield _bound(text, Span(start=match.start("it"), end=match.end("it")), single, _SURE)


def _kinds(verb: str) -> frozenset[str]:
    for pattern, name in _STEMS:
        if re.match(pattern, verb):
            return frozenset(_FITS_VERB[name])
    return frozenset(WORKS | {SCREEN, SOUND, PLAYED})


def _theres(text: str, own: Nearby, before: Sequence[Nearby]) -> Iterator[Mention]:
    for match in _THERE.finditer(text):
        single = _only(match.start(), own, before, PLACES)
        if single is not None:
            yield _bound(text, Span(start=match.start("there"), end=match.end("there")), single, _FAIR)


def _only(place: int, own: Nearby, before: Sequence[Nearby], kinds: frozenset[str]) -> tuple[Thing, str] | None:
    """Return the only thing of these kinds named near before ``place``, in this turn or else in the one before it."""
    rivals = kinds | {NAME} if kinds == PLACES else kinds
    here = [thing for thing in own.things if thing.end <= place and thing.kind in rivals]
    held = [(thing, own.turn_id) for thing in here if place - thing.end <= _NEAR]
    if not here and before:
        held = [(thing, before[-1].turn_id) for thing in before[-1].things if thing.kind in rivals]
    certain = all(thing.name and thing.kind != NAME for thing, _ in held)
    return _sole(held[::-1]) if certain else None


def _bound(text: str, span: Span, held: tuple[Thing, str], confidence: float) -> Mention:
    thing, source = held
    return Mention(mention=span.of(text), span=span, refers_to=thing.name, source_turn_id=source, confidence=confidence)
