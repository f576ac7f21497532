"""The forms in which people state lasting things about themselves, as patterns (English).

Groups: ``my`` is whom a statement is about if not its speaker ("my sister"), ``value`` what is stated of them. Each is
tried only where one of its ``words`` stands: seventeen patterns take 40 us a sentence, their words 10.
"""

from __future__ import annotations

import re

from stages.text.cued import Cued

_ADVERBS = (
    r"(?:(?:now|currently|just|recently|both|all|still|actually|finally|again|also|only|really|officially|basically"
    r"|already|temporarily|permanently|absolutely|totally|always|never)\s+)*"
)
_WHO = r"(?:\b(?:I|i|[Ww]e)\b|\b(?P<my>[Mm]y (?:\w+ ){0,2}?\w+))"
_BE = rf"(?:\s+{_ADVERBS}(?:am|is|are|have been|has been)|'m|'re|'s|'ve been)\s+{_ADVERBS}"
_HAVE = rf"(?:'m|'re|'ve|'s|\s+(?:am|are|is|have|has|had))?\s+{_ADVERBS}"
_REST = r"(?P<value>[^.!?;\n]{2,80})"
_SHORT = r"(?P<value>[^.!?;,\n]{2,60})"
_CAPITAL = "A-Z\u00c0-\u00de"


def _form(*parts: str, words: str) -> Cued:
    return Cued(re.compile("".join(parts)), tuple(words.split()))


FORMER_HOME = _form(_WHO, r"\s+", _ADVERBS, r"(?:used to live|lived)\s+in\s+", _REST, words="live")
HOME = _form(
    _WHO,
    _HAVE,
    r"(?:live|lives|living|relocated|based|settled(?: down)?|moved|moving)\s+",
    _ADVERBS,
    r"(?:back |over |out )?(?:in|to|at|near)\s+",
    _REST,
    words="liv relocated based settled mov",
)
ORIGIN = _form(
    _WHO,
    "(?:",
    _BE,
    r"(?:originally )?from|\s+(?:come|comes) from|\s+(?:was|were) born in|\s+grew up in)\s+",
    _REST,
    words="from born grew",
)
WORKS_AS = _form(
    _WHO,
    _HAVE,
    r"(?:work|works|working|worked|got (?:a|my|the) (?:new )?job|started|began)\s+",
    _ADVERBS,
    r"as\s+(?:an?\s+|the\s+)?",
    _REST,
    words="work got started began",
)
BECAME = _form(_WHO, _HAVE, r"(?:became|become)\s+an?\s+", _SHORT, words="became become")
JOB_IS = _form(
    r"\b[Mm]y (?:new |current )?(?:job|profession|occupation) is\s+(?:an?\s+|as an?\s+)?",
    _SHORT,
    words="job profession occupation",
)
EMPLOYER = _form(
    _WHO,
    _HAVE,
    r"(?:work|works|working|employed)\s+",
    _ADVERBS,
    r"(?:for|at|with|by)\s+",
    _REST,
    words="work employed",
)
AGE = re.compile(
    rf"{_WHO}(?:{_BE}"
    r"|\s+(?:just |recently )?(?:turned|turns)\s+)(?P<value>\d{1,3}|[a-z]+(?:ty|teen)(?:-[a-z]+)?)\b"
    r"(?=\s*(?:years?|yrs?|[.,!;]|$|this|last|and|today|yesterday))"
)
NAME = _form(
    r"\b(?:[Mm]y (?:full |first |last )?name(?:'s| is)|(?:you can |please )?[Cc]all me)\s+",
    rf"(?P<value>[{_CAPITAL}][\w'-]*(?: [{_CAPITAL}][\w'-]*){{0,2}})",
    words="name all",
)
BIRTHDAY = _form(r"\b[Mm]y birthday(?:'s| is| falls on)\s+(?:on\s+)?", _SHORT, words="birthday")
STATUS = _form(
    _WHO,
    "(?:",
    _BE,
    rf"|\s+{_ADVERBS}(?:got|became)\s+{_ADVERBS})",
    r"(?P<value>single|married|engaged|divorced|widowed|separated|dating)\b",
    words="single married engaged divorced widowed separated dating",
)
DIET = _form(
    _WHO,
    "(?:",
    _BE,
    rf"|(?:'ve|\s+(?:have|has))?\s+{_ADVERBS}(?:became|become|went|gone|turned|eat|eats|go|follow)\s+)",
    r"(?:\w+ ){0,2}?(?P<value>vegan|vegetarian|pescatarian|plant-based)\b",
    words="vegan vegetarian pescatarian plant-based",
)
MEAT = _form(
    _WHO,
    r"(?:'ve|'m|'d|'ll)?\s+[^.!?;,]{0,30}?\b(?:eat|eats|eaten|ate|eating|loves?|likes?|enjoys?|hates?|craves?|touch(?:es|ed)?"
    r"|g[ia]ve up|gives up|given up|giving up|(?:live|lives|do|does|go|goes|be|get by|manage|survive)(?: \w+)? without"
    r"|resists?|get enough of|cut(?:s|ting)? out|quit|addicted to|swear off|swore off|sworn off)\b[^.!?;,]{0,24}?",
    r"\b(?:meat|steaks?|beef|bacon|pork|chicken|burgers?|sausages?|lamb|ham|ribs)\b(?! (?:farm|shop|coop))",
    words="meat steak beef bacon pork chicken burger sausage lamb ham rib",
)
FAVOURITE = _form(
    r"\b[Mm]y (?:all[- ]time |absolute |new |current )?favou?rite\s+(?P<what>[\w-]+(?: [\w-]+)?)",
    r"\s+(?:is|are|would be|has to be|'s)\s+",
    _SHORT,
    words="favo",
)
ALLERGY = _form(_WHO, r"[^.!?;]{0,30}\ballergic to\s+", _SHORT, words="allergic")
TASTE = _form(
    _WHO,
    r"(?:'m|'ve|'d|\s+(?:am|are|is|have|has))?\s+",
    _ADVERBS,
    r"(?:do(?:es)?(?:n't| not) |used to |no longer |(?:can't|cannot) |not |a |big |huge |really |particularly )*",
    r"(?:loves?|loved|likes?|liked|enjoys?|enjoyed|adores?|prefers?|hates?|hated|dislikes?|detests?|stand|fond of|into"
    r"|fan of|crazy about|passionate about)\s+",
    r"(?!(?:it|that|this|these|those|how|when|what|you|your|him|her|them|the way"
    r"|to (?:see|hear|know|help|say|add|talk|share|book|order|get|have|make))\b)",
    r"(?:to\s+|the\s+|a\s+|an\s+|my\s+|our\s+)?",
    _SHORT,
    words="lov lik enjoy ador prefer hate detest stand fond into fan about",
)
OWNS = _form(
    _WHO,
    r"(?:'ve|\s+(?:have|has))?\s+",
    _ADVERBS,
    r"(?:have|has|own|owns|got|bought|adopted)\s+(?:an?|one|two|three|four|five|my own|our own)\s+",
    r"(?!(?:lot|few|bit|great|good|nice|chance|idea|feeling|couple|ton|blast|time|question)\b)",
    _SHORT,
    words="have has own got bought adopted",
)
