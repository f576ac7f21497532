"""Which sentences state something worth an item: no greetings, thanks, backchannels, questions or bare reactions."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from stages.extract_per_view.cues import plain
from stages.text.cued import Cued
from stages.text.tokens import content_tokens, tokens

_EMPTY = frozenset(
    token
    for word in (
        "hey hi hello bye goodbye morning night thanks thank thx ty welcome please sorry sure ok okay yeah yep yup yes "
        "nope nah wow oh ah haha lol hmm hm um uh well right exactly indeed absolutely definitely totally true agreed "
        "great good nice cool awesome amazing wonderful fantastic fabulous incredible lovely beautiful perfect super "
        "glad happy proud excited inspiring impressive interesting sweet fun funny bad sad crazy kind lucky rewarding "
        "sound sounds look looks seem seems feel feels hear heard see saw know think guess mean say said tell told "
        "like love lot really much way thing things stuff something anything everything time day always never still "
        "get got go going come keep make made take let can't wait hope wish bet care congrats congratulation "
        "appreciate support luck cheer ya gonna wanna gotta one too also again ever even back lets that's it's i'm "
        "you're bit stay talk chat catch soon later take idea point question help worry problem course news man buddy "
        "guys friend dude bro honestly actually maybe probably pretty quite especially journey best better life new"
    ).split()
    for token in tokens(word)
)
"""Stems that greet, thank, agree or judge: a sentence of these alone says nothing that will be asked for."""

_REACTION = re.compile(
    r"\W*(?:(?:but|and|so|oh|wow|aw+|yeah|yes|yep|no|hey|hi|well|haha|thanks|thank you|ok|okay|sure"
    r"|absolutely|totally|omg)\b\W*)*"
    r"(?:that(?:'s| is| was| sounds?| looks?| must| would)|it(?:'s| is| was| sounds?| looks?| must)"
    r"|this(?:'s| is| looks?)|sounds?|looks?|glad|so (?:glad|happy|proud|cool|nice|great|excited)"
    r"|i(?:'m| am) (?:so |really |very )?(?:glad|happy|proud|sorry)|congrat\w*|thank\w*|good (?:luck|job|for)"
    r"|great (?:job|to)|nice|awesome|amazing|what an?|how|can't wait to (?:hear|see)"
    r"|you(?:'re|'ve|'ll| are| have| must| can| should| look| got| really| guys)?|your|let me know|hope you"
    r"|i(?:'d| would) love to (?:see|hear)|keep|take care|enjoy|have (?:a|fun)|see you|talk to you"
    r"|i (?:totally |completely )?(?:agree|understand|see|bet|get it|hear you))\b",
    re.IGNORECASE,
)
_OWN = re.compile(r"(?<!\w)(?:I|i|[Mm]y|[Ww]e|[Oo]ur|[Mm]ine)(?:'\w+)?(?!\w)")
_QUESTION = re.compile(
    r"\W*(?:(?:so|and|but|hey|well|btw|wow|oh|ok|okay|also)\b\W*)*(?:what|who|whom|whose|which|when|where|why|how|do"
    r"|does|did|is|are|was|were|have|has|had|can|could|will|would|should|shall|may|any|ever|got any)\b",
    re.IGNORECASE,
)
_REQUEST = Cued(
    re.compile(
        r"(?:can|could|would|will) (?:you|we|i)\b|\b(?:please|i(?:'d| would) like|i need)\b",
        re.IGNORECASE,
    ),
    ("can ", "ould ", "will ", "please", "i'd like", "i need"),
)
_PLAN = re.compile(
    r"(?<!\w)(?:I|i|[Ww]e)(?:'m|'re|\s+am|\s+are)?\s+(?:(?:really|also|still|just|now|both|only|actually)\s+)*"
    r"(?:(?:want|plan|planning|hope|hoping|intend|intending|mean|going|about|determined)\s+to"
    r"|gonna|wanna|(?:thinking|dreaming)\s+(?:of|about))\s+"
    r"(?!(?:say|know|tell|see|hear|thank|ask|the|be honest|that)\b)[a-z]+"
)
_CONCRETE = re.compile(r"\d|(?<=[a-z,;:] )[A-Z][a-z]+|\"|\u201c")
_MARKUP = re.compile(
    r"^\s*(?:```|~~~|\|.*\||[-=*_#]{3,}\s*$|[{}<>/\\$@]"
    r"|(?:def|class|import|from|return|const|let|var|if|for|while|public)\b.*[:;({]\s*$)"
)
"""Lines of code, tables and rules: structured records are theirs, not items."""

MIN_TOKENS = 2
"""Telling stems that a sentence of the speaker's own needs: "We have a pup and a kitten" has two."""

_OPENING = 4
"""Words within which a statement about oneself names oneself: "These days, my job …"."""

MIN_TOKENS_OTHER = 5
"""The same for sentences about nothing of the speaker's own: comments on what the other said are shorter."""

MIN_REQUEST = 3
"""Telling stems that a request needs: "Please book a table for two"."""


def is_question(sentence: str) -> bool:
    """Tell whether the sentence asks something back rather than stating or requesting."""
    if not sentence.rstrip(" )\"'\u201d").endswith(("?", "\uff1f", "\u061f")):
        return False
    return not _OWN.match(sentence.lstrip()) or _QUESTION.match(sentence) is not None


def is_request(sentence: str) -> bool:
    """Tell whether the sentence asks its hearer to do something."""
    return _REQUEST.search(sentence) is not None


def is_plan(sentence: str) -> bool:
    """Tell whether its speaker says what they mean to do ("I want to read it on the plane")."""
    return _PLAN.search(plain(sentence)) is not None


def telling(sentence: str, names: Collection[str] = ()) -> int:
    """Return how many different stems say something, people's names and empty words left out."""
    return len(_telling(sentence) - _stems(tuple(names)))


@lru_cache(maxsize=4096)
def _telling(sentence: str) -> frozenset[str]:
    return frozenset(token for token in content_tokens(sentence) if token not in _EMPTY)


@lru_cache(maxsize=256)
def _stems(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(token for name in names for token in tokens(name))


def states(sentence: str, names: Collection[str] = ()) -> bool:
    """Tell whether the sentence states or requests something concrete enough to be asked for later."""
    if _MARKUP.match(sentence):
        return False
    count = telling(sentence, names)
    if is_question(sentence):
        return is_request(sentence) and count >= MIN_REQUEST + 1
    concrete = _CONCRETE.search(sentence) is not None
    if reacts(sentence):
        return count > MIN_TOKENS and own(sentence) and concrete
    if is_request(sentence) and count >= MIN_REQUEST:
        return True
    return count >= (MIN_TOKENS if own(sentence) or concrete else MIN_TOKENS_OTHER)


def reacts(sentence: str) -> bool:
    """Tell whether the sentence answers what another said (praise, thanks, wishes) rather than telling something."""
    return _REACTION.match(sentence) is not None


def own(sentence: str) -> bool:
    """Tell whether the sentence speaks of its speaker."""
    return _OWN.search(sentence) is not None


def of_self(sentence: str) -> bool:
    """Tell whether the sentence begins with its speaker ("I", "My sister"): only such ones say who someone is."""
    return own(" ".join(sentence.split(maxsplit=_OPENING)[:_OPENING]))


def specificity(sentence: str, names: Collection[str] = ()) -> int:
    """Return how specific a sentence is: its telling stems, twice what is named, numbered or its speaker's own."""
    concrete = len(_CONCRETE.findall(sentence))
    return telling(sentence, names) + 2 * min(concrete, 4) + 2 * own(sentence)
