"""Closed classes of words that say how a statement is meant: negations, hedges, joining words; several languages."""

from __future__ import annotations

from functools import cache
from typing import Final

from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer


def _all(*lists: str) -> frozenset[str]:
    return frozenset(word for words in lists for word in words.split())


ONES: Final = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
}
TENS: Final = {
    word: 10 * value
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
}
SCALES: Final = {"hundred": 100, "thousand": 1000, "million": 1_000_000, "dozen": 12}

NEGATIONS: Final = _all(
    "not no never none nobody nothing nowhere neither nor without",
    "nicht nie niemals kein keine keinen keiner keinem nichts niemand ohne",
    "ne pas jamais aucun aucune rien personne sans",
    "nunca jamás ningún ninguna ninguno nada nadie sin ni",
    "não nunca nenhum nenhuma sem nem",
    "non nessuno nessuna niente senza",
    "не ни нет никогда никто ничего без",
    "لا لم لن ليس ليست ما بدون",
    "नहीं न मत बिना",
    "不 没 沒 无 無 未 非 ない ず ぬ",
)
"""Words, and signs of unspaced scripts, that deny; "no" of Spanish and Italian is that of English."""

HEDGES: Final = _all(
    "maybe perhaps probably possibly likely unlikely almost nearly hardly barely supposedly allegedly apparently "
    "might may could would should must want wants wanted wish wishes hope hopes hoped hoping plan plans planned "
    "planning try tries tried trying intend intends intended consider considers considering thinking think thinks "
    "thought believe believes believed guess guesses say says said claim claims claimed hear heard tell tells told "
    "dream dreams refuse refuses refused stop stopped quit cease ceased fail failed pretend pretends "
    "if unless until till except but although though however instead only just or either whether than like used former "
    "formerly once previously again any anymore longer soon ever "
    "few most many some all every half rarely seldom sometimes often always usually",
    "vielleicht wahrscheinlich fast kaum will möchte wollte wenn falls aber oder nur bis früher mehr außer "
    "sondern soll",
    "peut-être presque veut voudrait si mais ou seulement sauf plus",
    "quizás quizá casi quiere pero o solo sólo excepto hasta más",
    "talvez quase quer mas ou só exceto até mais",
    "forse quasi vuole ma o solo tranne fino più",
    "может возможно почти хочет если но или только кроме пока больше бы",
    "ربما تقريبا يريد تريد إذا لكن أو فقط حتى",
    "शायद लगभग चाहता चाहती अगर लेकिन या केवल सिर्फ",
    "吗 嗎 或 但 想 要 可能 只 か たい かも",
)
"""Words with which an addition may limit, doubt or take back what it is added to."""

JOINING: Final = _all(
    "and in on at with called named who which where since for from because by as during after before under near "
    "through via every each when while whose that to into about around without including especially mostly plus per "
    "next behind above below between inside outside across along towards",
    "und in im am an auf bei mit seit für von weil der die das wo zu zum zur vor nach unter neben jeden jede über "
    "durch gegen um aus",
    "et dans à au aux avec depuis pour de du des parce qui où par chez sur sous en tous",
    "y e en con desde para de del porque que donde por cada sobre bajo a al",
    "em no na nos nas com para do da dos das porque onde aos às um",
    "ed con da di del della nel nella per perché che dove ogni su",
    "и в во на с со под из от для потому где который которая каждый по у около за при до",  # noqa: RUF001 - Cyrillic
    "و في من على مع منذ لأن كل عند إلى الذي التي",
    "और हर में से पर के की का लिए साथ",
)
"""Words with which an addition begins that adds a detail: after "Mia has a dog" these do not change what she has."""

AFTER: Final = _all("को में से पर साथ लिए के का की तक", "で に と へ から まで")
"""Words that stand behind what they join, as in Hindi and Japanese."""

DETERMINERS: Final = _all(
    "a an the my your his her its our their this that",
    "der die das den dem ein eine einen einem einer sein seine ihr ihre",
)
"""Words behind which a thing is named, where a word before it says more of it."""

MAKE_BELIEVE: Final = _all(
    "toy fake model mock virtual imaginary artificial plastic potential future wrong other second"
)
"""Words that make another thing, or none, of what they stand before."""

MARKERS: Final = _all("yeah yes yep oh wow hey hi hello well so ok okay sure haha ah aw definitely absolutely actually")
"""Words before a statement that say nothing of it."""

COPULAS: Final = _all("is are was were am be ist sind war waren est sont era es son é são è sono है हैं था")
"""Words by which something is said to be something."""

PLACES: Final = _all("in at on near under above behind by im am auf bei en à em na no в на في")
ROLES: Final = _all("as als como comme come")
TIMES: Final = _all("every since during until jeden seit cada chaque desde")
MEANS: Final = _all("with without mit ohne con sin avec sans com sem с без")  # noqa: RUF001 - Cyrillic
CLASSES: Final = (PLACES, ROLES, TIMES, MEANS)
"""Classes of prepositions: two details of one class answer one question (where, as what, when, with what)."""

PARTICLES: Final = _all("up out off over away back down through about again ahead along")
"""Words that belong to a verb, and name nothing."""

LIGHT: Final = _all(
    "get gets got getting go goes going went gone come comes came coming make makes made making take takes took taken "
    "taking give gives gave given giving have has had having do does did doing keep keeps kept keeping let lets put "
    "see sees saw seen seeing look looks looking looked know knows knew known feel feels felt feeling start starts "
    "started starting find finds found use uses using used show shows showed need needs needed decide decided become "
    "thing things stuff lot lots bit way ways something anything everything someone people person everyone time times "
    "day days week weeks weekend month months year years today yesterday tomorrow tonight morning evening night ago "
    "last next recently lately new old big little small much more very really just still even also always now then "
    "first second one ones good back around together forward able sure cool different whole such "
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december moment experience chance part kind sort type able been being "
    "stay stays staying stayed happen happens happened blast someday others other chat chats chatted talk talks talked "
    "speak spoke spoken wait waits waiting young younger remind reminds reminded reminding break breaks change changes "
    "changed world visit visits visited visiting idea ideas life lives event events pic picture photo share shared "
    "sharing bring brings brought help helps helped helping turn turns turned turning learn "
    "learns learned learning teach taught reason reasons difference"
)
"""Words of many sentences on any theme: no theme is named by them."""

ATTITUDE: Final = _all(
    "love loves loved loving like likes liked liking hate hates hated enjoy enjoys enjoyed enjoying prefer prefers "
    "dislike dislikes adore fan favorite favourite passion passionate fun amazing awesome great"
)
"""Words that say how somebody feels about a theme, which its name must not tell (AdaMem E.3)."""


@cache
def _lexicon() -> frozenset[str]:
    return frozenset(SentimentIntensityAnalyzer().lexicon)


def feels(word: str) -> bool:
    """Tell whether a case-folded word says how somebody feels, by VADER's lexicon (English) and a few of our own."""
    return word in ATTITUDE or word in _lexicon()
