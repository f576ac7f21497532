"""Words by which a speaker says that they go on with something: the cascade before any scoring (ArborMem)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from schemas.interval import Interval, TimeMention
from schemas.normalized import Normalized
from stages.localize_state.incoming import Incoming
from stages.localize_state.nodes import Sign

_RESUME = re.compile(
    r"\b(?:as i was saying|as i (?:said|mentioned)(?! (?:on|last|yesterday))|like i was saying|"
    r"where was i|to continue what i|"
    r"continuing (?:on )?(?:from )?(?:what i|my)|to finish (?:my|that) thought|as i started to say)\b"
)
_RETURN = re.compile(
    r"\b(?:"
    r"back to (?:what|where|the|that|our|my|your|last|yesterday|earlier|monday|tuesday|wednesday|"
    r"thursday|friday|saturday|"
    r"sunday)\b(?! (?:gym|office|store|hotel|doctor|future|grind|basics))|"
    r"(?:return(?:ing)?|circl(?:e|ing) back|revisit(?:ing)?|follow(?:ing)? up|"
    r"pick(?:ing)? up)\b.{0,20}\b(?:to|on|where|what|the|our)\b|"
    r"we (?:\w+ ){0,2}(?:said|discuss(?:ed|ing)|talk(?:ed|ing)|spoke|spoken|decided|agreed|planned|"
    r"planning|settled|looked at|left off)|"
    r"you (?:\w+ ){0,2}(?:said|suggested|mentioned|recommended|told me|gave me|listed|sent me|showed me|"
    r"proposed|found)|"
    r"i (?:\w+ ){0,2}(?:mentioned|asked you|told you|was telling you|said to you|asked about)|"
    r"(?:our|that|the) (?:\w+ ){0,2}(?:conversation|discussion|chat|talk|thread|plan|list|question|"
    r"topic)\b.{0,30}\b(?:from|of)\b"
    r")"
)
_EARLIER = re.compile(
    r"\b(?:earlier|before|previously|last time|the other day|a while (?:ago|back)|back then|back to|"
    r"return(?:ing)? to|left off)\b"
)
_BARE_WORDS = 4
"""A bare answer has no words to be found by. Longer answers mostly have some, and are scored."""


def resumes_own(turn: Incoming) -> bool:
    """Tell whether the speaker takes up their own last turn ("as I was saying")."""
    return bool(_RESUME.search(turn.text.casefold()))


def bare_answer(turn: Incoming, asked: int) -> bool:
    """Tell whether a turn only answers the question ``asked`` (signs of the turn before it)."""
    asks = Sign.QUESTION | Sign.REQUEST | Sign.OPENING | Sign.GREETING | Sign.COMMAND
    question = asked & Sign.QUESTION and asked & Sign.AGENT
    return bool(question) and turn.words <= _BARE_WORDS and not turn.signs & asks and bool(turn.signs & Sign.ANSWER)


def returns(message: Normalized, text: str) -> tuple[Interval, ...] | None:
    """Return the past intervals that a turn goes back to, none given meaning "earlier"; ``None``: it doesn't.

    A time alone is no return ("the dentist on Tuesday"): words must speak of the conversation ("what we said on
    Tuesday"), or the time own a noun ("last week's plan").
    """
    folded = text.casefold()
    past = tuple(_past(message.times, message.turn.at))
    owned = tuple(time.interval for time in past if _owns(message.text, time))
    if owned:
        return owned
    if not _RETURN.search(folded):
        return None
    if past:
        return tuple(time.interval for time in past)
    return () if _EARLIER.search(folded) else None


def _past(times: Iterable[TimeMention], at: datetime) -> Iterable[TimeMention]:
    return (time for time in times if time.interval.start < at)


def _owns(text: str, time: TimeMention) -> bool:
    rest = text[time.span.end - 2 if time.phrase.endswith(("'s", "\u2019s")) else time.span.end :]
    return bool(
        re.match(
            r"['\u2019]s (?:\w+ )?(?:plans?|lists?|conversation|discussion|chat|talk|ideas?|question|topic|call)\b",
            rest,
        )
    )
