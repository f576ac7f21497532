"""Words that say how a statement stands to earlier ones: a correction, a change, a negation, an attitude."""

from __future__ import annotations

import re

from schemas.normalized import Attitude
from stages.text.cued import Cued

_CORRECTING = re.compile(
    r"\b(?:no|nope)\b\s*[,.!:;\u2014-]+\s*(?:\w+[\s,]+){0,3}?i\s+(?:said|meant|mean|told you)\b"
    r"|\b(?:sorry|oops|wait|actually)\b[\s,.!:;\u2014-]*(?:\w+[\s,]+){0,3}?i\s+(?:said|meant|mean)\b"
    r"|(?:^|[,.;:!\u2014-]\s*)i\s+meant\b(?!\s+(?:to|it|that)\b)|\bi misspoke\b|(?:^|[.!;]\s*)correction\s*[:,\u2014-]"
    r"|\b(?:actually|no|sorry)\b[\s,]*(?:it|that|he|she|they)(?:'s| is| was|'re| are| were)\b"
    r"[^.!?]*\b(?:not|rather than|instead of)\b"
    r"|\bi was wrong\b[^.!?]*\b(?:it|that|he|she|they)(?:'s| is| was)\b"
    r"|\bscratch that\b|\b(?:my mistake|that was a typo)\b",
    re.IGNORECASE,
)
_CORRECTS = Cued(
    _CORRECTING,
    (
        "said",
        "mean",
        "told",
        "misspoke",
        "correction",
        "not",
        "rather",
        "instead",
        "wrong",
        "scratch",
        "mistake",
        "typo",
    ),
)
_CHANGES = re.compile(
    r"\b(?:no longer|any ?more|used to|moved (?:\w+ )?(?:in)?to|moving to|switched (?:\w+ )?to|switching to"
    r"|changed my mind|changed (?:it |that |this )?to|from now on|as of (?:today|now)|these days|gave up|given up|quit"
    r"|stopped|became|have become|turned into|replaced|instead of|ha(?:s|ve) changed|rescheduled|postponed|cancell?ed"
    r"|broke up|split up)\b|\bi(?:'m| am|'ve| have)?\b[^.!?]{0,40}\bnow\b(?!\s+(?:that|and then))",
    re.IGNORECASE,
)
_CORRECTED = (
    re.compile(
        r"^.*?(?:\bi\s+(?:said|meant|mean|told you)\b|\bcorrection\s*[:,\u2014-])[\s,:;.!\u2014-]*",
        re.IGNORECASE,
    ),
    re.compile(r"^.*?\b(?:scratch that|my mistake|i misspoke|actually|sorry|no)\b[\s,:;.!\u2014-]*", re.IGNORECASE),
)
"""What stands before the new words of a correction, the surer form first."""

_NEGATED = re.compile(
    r"\b(?:not|never|no longer|none|nobody|nothing|neither|nor|without|cannot|used to|quit|stopped|gave up|given up"
    r"|swore off|sworn off|cut out)\b"
    r"|n't\b",
    re.IGNORECASE,
)
_NOT_REALLY = re.compile(
    r"\bnot only\b|\bno doubt\b|\bno problem\b|\bcan(?:'t|not) (?:wait|stand|stop|help|believe|get enough)\b"
    r"|\bwhy not\b|\bdon't (?:worry|forget|hesitate)\b|\bnot just\b|\bnever (?:mind|ceases?)\b"
    r"|\bif not\b|\bnothing (?:but|beats)\b"
    r"|\bisn't it\b|\bdidn't i\b"
    r"|\b(?:(?:can|could|would|will) ?(?:not|never|n't)|won't|can't|never)\s+(?:\w+\s+){0,2}?"
    r"(?:(?:g[ia]ve|giving|given) up\b(?! on)|(?:live|do|go|be|get by|manage|survive|life)(?: \w+)? without|resist"
    r"|get enough of|quit|stop|swear off)\b",
    re.IGNORECASE,
)
_CONTRASTED = re.compile(r",?\s*\b(?:not|rather than|instead of)\s+[^,.;!?]+(?=[,.;!?]|$)", re.IGNORECASE)
_DISLIKES = re.compile(
    r"\b(?:hate|hates|hated|dislike|dislikes|detest|despise|loathe|can(?:'t|not) stand"
    r"|(?:do|does|did)(?:n't| not) (?:\w+ )?(?:like|love|enjoy|care for|want)"
    r"|never liked|no longer (?:like|love|enjoy)|not (?:a (?:big |huge )?fan|into|fond)|sick of|tired of"
    r"|used to (?:love|like|enjoy)|allergic|avoid)\b",
    re.IGNORECASE,
)
_LIKES = re.compile(
    r"\b(?:loves?|loved|likes?|liked|enjoys?|enjoyed|adores?|prefers?|fond of|into|fan of|favou?rite|crazy about"
    r"|passionate about)\b",
    re.IGNORECASE,
)
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'"})


def plain(sentence: str) -> str:
    """Return ``sentence`` with one kind of apostrophe; as long as it was."""
    return sentence if sentence.isascii() else sentence.translate(_APOSTROPHES)


def corrects(sentence: str) -> bool:
    """Tell whether the sentence says that something said before was wrong ("no, I said Tuesday")."""
    return _CORRECTS.search(plain(sentence)) is not None


def changes(sentence: str) -> bool:
    """Tell whether the sentence says that something is no longer as it was ("we moved to Berlin")."""
    return _CHANGES.search(plain(sentence)) is not None


def corrected(sentence: str) -> str:
    """Return what a correction puts in place of the old: the words behind "I meant", without what it is not."""
    text = plain(sentence)
    rest = next((pattern.sub("", text, count=1) for pattern in _CORRECTED if pattern.match(text)), text)
    return _CONTRASTED.sub("", rest).strip() or sentence


def negated(sentence: str) -> bool:
    """Tell whether the sentence denies what it speaks of; "not only" and "can't wait" do not."""
    text = plain(sentence)
    if _NEGATED.search(text) is None:  # most sentences deny nothing, and the rest would only take words away
        return False
    rest = _NOT_REALLY.sub(" ", text)
    if corrects(rest):
        rest = _CONTRASTED.sub(" ", rest)
    return _NEGATED.search(rest) is not None


def liking(sentence: str) -> Attitude:
    """Return the attitude that the sentence itself expresses towards its object."""
    text = plain(sentence)
    if _DISLIKES.search(text):
        return Attitude.NEGATIVE
    return Attitude.POSITIVE if _LIKES.search(text) else Attitude.NONE
