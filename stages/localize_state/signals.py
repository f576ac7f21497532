"""What the words of a turn show: a question, a greeting, thanks, a bare answer."""

from __future__ import annotations

import re
from functools import lru_cache

from stages.localize_state.nodes import Sign

_HEAD = r"^\W*(?:\w[^\s:,]{0,30}[:,]\s*)?"  # an address may stand in front
_HEAD_READ, _TAIL_READ = 300, 200
"""Characters read at both ends of a long text: how it begins and what it ends in say how it stands to others."""

_PATTERNS: tuple[tuple[int, re.Pattern[str]], ...] = (
    (
        Sign.QUESTION,
        re.compile(
            r"\?|" + _HEAD + r"(?:how|what|why|where|when|who|which|whats|hows|anyone|anybody|does|do you|is there|"
            r"are there|can i|can you|could you|should i|would you|any idea|has any)\b"
        ),
    ),
    (
        Sign.GREETING,
        re.compile(_HEAD + r"(?:hi+|hello+|hey+|hiya|howdy|greetings|good (?:morning|evening|afternoon)|yo|morning)\b"),
    ),
    (Sign.THANKS, re.compile(r"\b(?:thanks?|thank you|thanx|thx|ty|cheers|much appreciated|tnx)\b")),
    (
        Sign.ANSWER,
        re.compile(
            _HEAD + r"(?:yes|yeah|yep|yup|no|nope|nah|ok|okay|sure|right|true|exactly|correct|maybe|probably|indeed|"
            r"oh|ah|ahh|hm+|well|because|cause|i see|lol|haha|heh|that(?:'s| is) (?:right|correct|it|fine|all))\b"
        ),
    ),
    (Sign.COMMAND, re.compile(r"^\s*[!/~][a-z]|\| *\w+\s*$")),
    (Sign.LINK, re.compile(r"https?://|www\.")),
    (
        Sign.CLOSING,
        re.compile(
            r"\b(?:bye|goodbye|good ?night|see (?:you|ya)|have an? (?:\w+ )?(?:day|one|time|evening|"
            r"night|weekend|trip)|"
            r"that(?:'s| is|'ll be| will be| would be) all|all i need(?:ed)?|take care|enjoy your|"
            r"you(?:'re| are) welcome|my pleasure|"
            r"good day)\b"
        ),
    ),
    (Sign.ANAPHORA, re.compile(r"\b(?:it|its|that|this|they|them|those|these|there|one|he|she|him|her)\b")),
    (
        Sign.REQUEST,
        re.compile(
            r"\b(?:i (?:want|need|wish|am looking|would like|'d like|would love)|i'd (?:like|love)|"
            r"i'm looking|looking for|"
            r"help me|find me|search for|can you (?:find|help|get|book|show|please)|please (?:find|help|book|show))\b"
        ),
    ),
    (
        Sign.POLAR,
        re.compile(
            r"\b(?:do you|did you|does (?:that|this|it)|would you|will you|shall i|should i|may i|can i|"
            r"is (?:that|this|it|there)|"
            r"are (?:you|there)|how about|what about|confirm\w*|verify|correct|right|okay|interested)\b.*(?:\?|$)"
        ),
    ),
    (Sign.ASKS_WHAT, re.compile(r"\b(?:what|which|who|whose|how)\b.*\?")),
    (Sign.ASKS_WHEN, re.compile(r"\b(?:when|(?:what|which) (?:time|date|day)|how long|until when)\b")),
    (Sign.ASKS_COUNT, re.compile(r"\b(?:how (?:many|much)|number of|quantity|for how many)\b")),
    (Sign.ASKS_WHERE, re.compile(r"\b(?:where|(?:what|which) (?:city|area|place|location|town|country|airport))\b")),
    (
        Sign.TIME,
        re.compile(
            r"\b(?:\d{1,2}(?::\d\d)? ?(?:am|pm|o'clock)|\d{1,2}:\d\d|\d{1,2}(?:st|nd|rd|th)|today|tonight|tomorrow|"
            r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:jan|febr)uary|march|april|june|july|august|"
            r"(?:septem|octo|novem|decem)ber|morning|afternoon|evening|noon|next week)\b"
        ),
    ),
    (Sign.NUMBER, re.compile(r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten)\b")),
    (
        Sign.ASSENT,
        re.compile(
            r"^\W*(?:yes|yeah|yep|yup|ok|okay|sure|right|correct|exactly|perfect|great|alright|absolutely|please do|"
            r"that (?:sounds|works|is (?:correct|right|perfect|fine|good))|that's (?:correct|right|"
            r"perfect|fine|good|great)|"
            r"sounds (?:good|great)|i like|go ahead|no|nope|nah)\b"
        ),
    ),
    (
        Sign.OPENING,
        re.compile(
            r"\b(?:by the way|btw|another (?:thing|question)|on another note|new topic|"
            r"change (?:of )?(?:the )?(?:subject|topic)|"
            r"unrelated|different (?:question|topic)|something else)\b"
        ),
    ),
)


def signs(text: str) -> int:
    """Return the signs that the words of ``text`` show."""
    folded = (text if len(text) <= _HEAD_READ + _TAIL_READ else f"{text[:_HEAD_READ]} {text[-_TAIL_READ:]}").casefold()
    return _signs(folded)


@lru_cache(maxsize=4096)
def _signs(folded: str) -> int:
    """Return the signs of a folded text of 500 characters at most; kept for the turns that a read finds again."""
    shown = 0
    for sign, pattern in _PATTERNS:
        if pattern.search(folded):
            shown |= sign
    return shown
