"""Heads and values of short noun phrases, as slugs that stay the same from one wording to the next (English)."""

from __future__ import annotations

import re

from stages.text.tokens import content_tokens, stem, words

MAX_SLUG = 48
"""Characters of an attribute: keys are kept in state for W events."""

_CLAUSE = (
    r"and|but|because|since|so|when|while|where|which|who|that|as|if|though|although|with|for|after|before|than"
    r"|now|today|lately|recently|nowadays|these days|any ?more|again|too|also|instead|last|next|this|yesterday|tomorrow"
    r"|every|right|from"
)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|spring|summer|autumn|fall|winter|19\d\d|20\d\d)"
_END = r"|[,;:()\u2014\"]|\s-\s).*$"
_STOPS = re.compile(
    rf"\s*(?:\b(?:{_CLAUSE}|or|at|in|on|of|by|to|about|near|during|more|most|ago|either|much|very|a lot"
    r"|well|named|called)\b" + _END,
    re.IGNORECASE | re.DOTALL,
)
_AGO = r"a (?:few|couple)|\w+ (?:years?|months?|weeks?|days?) ago"
_TIMES = rf"{_AGO}|(?:in|on|by|of) {_MONTH}\w*"
_VALUE_STOPS = re.compile(rf"\s*(?:\b(?:{_CLAUSE}|{_TIMES})\b" + _END, re.IGNORECASE | re.DOTALL)
_ARTICLE = re.compile(r"^(?:(?:an?|the|my|our|his|her|their|some|any|new|old)\s+)+", re.IGNORECASE)
_RELATIONS = frozenset(
    "sister brother mother mom mum father dad son daughter wife husband partner boyfriend girlfriend friend cousin "
    "aunt uncle grandmother grandma grandfather grandpa niece nephew boss manager colleague coworker roommate "
    "neighbour neighbor teacher coach dog cat puppy kitten parent parents kids kid child children family fiance "
    "fiancee ex doctor therapist mentor team company".split()
)


def slug(text: str) -> str:
    """Return ``text`` as stems joined by hyphens, at most ``MAX_SLUG`` characters."""
    return "-".join(content_tokens(text))[:MAX_SLUG].rstrip("-")


def head(phrase: str) -> str:
    """Return the stem of the head of a noun phrase: its last telling word before a preposition or clause."""
    core = _STOPS.sub("", phrase.strip())
    stems = content_tokens(core) or content_tokens(phrase)[:1]
    return stems[-1][:MAX_SLUG] if stems else ""


def object_of(phrase: str) -> str:
    """Return the noun phrase of ``head`` with what narrows it ("spicy thai food"), as stems."""
    return " ".join(content_tokens(_STOPS.sub("", phrase.strip())))[:MAX_SLUG].strip()


def value_of(phrase: str) -> str:
    """Return a value without articles, time phrases and clauses, case-folded; empty if nothing is left."""
    core = _ARTICLE.sub("", _VALUE_STOPS.sub("", phrase.strip())).strip(" '\"*_`.")
    return " ".join(words(core))[:MAX_SLUG].strip()


def relation(phrase: str | None) -> str | None:
    """Return the person that "my elder sister" speaks of, as "sister"; the speaker themselves for ``None``."""
    if phrase is None:
        return None
    found = words(phrase)[1:]
    known = [word for word in found if word in _RELATIONS]
    return stem(known[-1]) if known else " ".join(found)[:MAX_SLUG] or None
