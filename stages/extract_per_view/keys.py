"""What an item is about: (owner, subject, attribute), the same for all wordings of one thing (mechanics, rule Key)."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from schemas.extracted import ItemKind, Key
from stages.extract_per_view.aspects import Aspect
from stages.extract_per_view.phrases import MAX_SLUG, relation
from stages.text.tokens import content_tokens, tokens

MAX_SUBJECT = 64
"""Characters of a subject: keys are kept in state for W events."""

_LIGHT = frozenset(
    token
    for word in (
        "want need plan think hope know wish try trying got get go going gonna went have having had like love make "
        "made take took start started decide decided really just also always now still even today yesterday tomorrow "
        "last next week month year day said meant mean told tell sorry actually correction please wait no yes well "
        "okay hey hi oh looking look working use using feel feeling been come came new great good nice thing lot let "
        "help give"
    ).split()
    for token in tokens(word)
)
"""Stems that say how something is meant, not what: "I want to book a flight" is about booking."""

_VERB = re.compile(r"^\w+(?:ed|ing)$")
"""A capital that only begins the sentence: "Booked for Thursday"."""

_RELATION = re.compile(r"\b[Mm]y (?:\w+ ){0,1}?\w+\b")


def key_of(
    owner: str, kind: ItemKind, view: str, found: Aspect | None, *, subject: str | None, words: Sequence[str]
) -> Key:
    """Return the key of an item.

    ``found`` is the aspect that the statement's form names; without one the attribute is the view and the head of the
    statement (``words``: its telling stems). ``subject`` is a named entity or the branch; persona attributes have none.
    """
    if found is not None:
        return Key(owner=owner, subject=found.subject, attribute=found.attribute[: MAX_SLUG * 2])
    attribute = f"{view}:{words[0] if words else 'statement'}"[: MAX_SLUG * 2]
    return Key(owner=owner, subject=None if kind is ItemKind.ATTRIBUTE else subject, attribute=attribute)


def subject_of(sentence: str, entities: Sequence[str], people: Collection[str], branch: int) -> str:
    """Return the first named entity that the sentence speaks of, else the root of its branch."""
    folded = sentence.casefold()
    spoken = {person.casefold() for person in people}
    for entity in entities:
        name = entity.casefold().strip()
        if name in spoken or name not in folded or _LIGHT.issuperset(tokens(name)):
            continue
        if not (folded.startswith(name) and _VERB.search(name)):
            return name[:MAX_SUBJECT]
    return f"branch:{branch}"


def person_of(sentence: str) -> str | None:
    """Return the person of the speaker's own that the sentence begins with ("my sister has two boys")."""
    match = _RELATION.match(sentence.lstrip(" \"'*-"))
    person = relation(match.group()) if match else None
    return person if person is not None and " " not in person else None


def heads(sentence: str, left_out: Collection[str]) -> list[str]:
    """Return the telling stems of a sentence in order, without light verbs and the tokens of ``left_out``."""
    ignored = {token for name in left_out for token in tokens(name)}
    found = [token for token in content_tokens(sentence) if token not in ignored and "'" not in token]
    return [token for token in found if token not in _LIGHT and not token.isdigit()] or found
