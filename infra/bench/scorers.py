"""How good an answer is: LoCoMo's official F1, BLEU-1 and PersonaMem's multiple choice. Each is a number from 0 to 1.

Definitions are facts of the sets' published evaluations, written anew here; categories go by their numbers only, since
papers swap the names.
"""

from __future__ import annotations

import math
import re
import string
import threading
from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import Final

import Stemmer

MULTI: Final = 1
"""Category whose gold answer is a list, written with commas."""

FIRST: Final = 3
"""Category of which only the gold answer's part before the first semicolon counts."""

ADVERSARIAL: Final = 5
"""Category that asks for what was never said: the right answer is that there is none."""

CATEGORIES: Final = (1, 2, 3, 4, 5)

_REFUSALS: Final = ("no information available", "not mentioned")
_UNASKED: Final = re.compile(r"\b(?:a|an|the|and)\b")
"""Words that don't count: the articles, and "and" too, as in the official evaluation."""

_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)
_SHORT: Final = 2
"""Words of so many letters stay as they are, as in Porter's own later programs: his paper's rules make "is" an "i"."""

_PIECE: Final = re.compile(r"\w+|[^\w\s]")
_IN_PARENTHESES: Final = re.compile(r"\(([a-d])\)")
_LETTER: Final = re.compile(r"\b([a-d])\b")
_FINAL: Final = "<final_answer>"
_END: Final = "</final_answer>"

_local = threading.local()  # PyStemmer's object is not safe to share between threads


def stem(word: str) -> str:
    """Return the stem by the original Porter algorithm (Porter 1980), not by Snowball English, its successor.

    The official evaluation stems with NLTK, whose default adds rules of its own ("day" stays, "dying" is "die"). Over
    the 713 answerable questions of five conversations no F1 differs from the official one if each is answered by its
    evidence, its gold answer or its question, and 8 do if by the last three turns (the mean by 0.0003).
    """
    if len(word) <= _SHORT:
        return word
    if not hasattr(_local, "stemmer"):
        _local.stemmer = Stemmer.Stemmer("porter")
    stemmed: str = _local.stemmer.stemWord(word)
    return stemmed


def normalized(text: str) -> list[str]:
    """Return the stems that LoCoMo compares: lower case, without ASCII punctuation, articles and "and", in order.

    Punctuation goes before the articles do, and leaves no space behind: "well-known" is one word.
    """
    bare = text.lower().translate(_PUNCTUATION)
    return [stem(word) for word in _UNASKED.sub(" ", bare).split()]


def token_f1(answer: str, gold: str) -> float:
    """Return the harmonic mean of precision and recall over the stems, each counted as often as it comes.

    With ``n`` stems in common it is ``2 n / (stems of the answer + stems of the gold answer)``; 0 if none are.
    """
    ours, theirs = normalized(answer), normalized(gold)
    common = _in_common(ours, theirs)
    return 2 * common / (len(ours) + len(theirs)) if common else 0.0


def multi_f1(answer: str, gold: str) -> float:
    """Return the mean over the gold answer's parts of the best F1 that any part of the answer has with it.

    Parts are what commas separate. An answer without commas is one part, which each gold part is compared with.
    """
    parts = answer.split(",")
    return fmean(max(token_f1(part, wanted) for part in parts) for wanted in gold.split(","))


def refusal(answer: str) -> float:
    """Return 1 if the answer says that memory has none, in one of the two ways that the official evaluation knows."""
    return float(any(said in answer.lower() for said in _REFUSALS))


def locomo_f1(category: int, answer: str, gold: str) -> float:
    """Return LoCoMo's official score of an answer (Maharana et al. 2024, question answering).

    Category 1 is scored part by part; of category 3's gold answer only what stands before a semicolon counts;
    category 5 by refusal, whatever ``gold`` is; the others by ``token_f1``.

    Raises:
        ValueError: if there is no such category.
    """
    if category not in CATEGORIES:
        msg = f"LoCoMo's categories are 1 to 5, got {category}"
        raise ValueError(msg)
    if category == ADVERSARIAL:
        return refusal(answer)
    if category == MULTI:
        return multi_f1(answer, gold)
    return token_f1(answer, gold.partition(";")[0] if category == FIRST else gold)


def bleu_1(answer: str, gold: str) -> float:
    """Return BLEU of unigrams against one reference (Papineni et al. 2002): clipped precision and brevity penalty.

    Tokens are lower-case runs of word characters and single signs; nothing is stemmed, left out or smoothed. The
    penalty for an answer of ``c`` tokens to a reference of ``r`` is 1 if ``c > r``, else ``exp(1 - r / c)``.
    """
    ours, theirs = _PIECE.findall(answer.lower()), _PIECE.findall(gold.lower())
    common = _in_common(ours, theirs)
    if not common:
        return 0.0
    return common / len(ours) * math.exp(min(0.0, 1 - len(theirs) / len(ours)))


def options(text: str) -> frozenset[str]:
    """Return the option letters, "a" to "d", that a text names: those in parentheses, or else those that stand alone.

    Case does not matter, so that the article "a" names an option too, as in the official protocol.
    """
    lower = text.lower()
    return frozenset(_IN_PARENTHESES.findall(lower) or _LETTER.findall(lower))


def choice(answer: str, correct: str) -> float:
    """Return 1 if an answer in free text chooses the option ``correct`` ("(c)" or "c") and no other, else 0.

    PersonaMem's deterministic protocol (Jiang et al. 2025): what follows the last ``<final_answer>`` is looked at
    first; if that does not name the right option alone, the answer as a whole may.

    Raises:
        ValueError: if ``correct`` is no option.
    """
    wanted = correct.lower().strip("() ")
    if not re.fullmatch("[a-d]", wanted):
        msg = f"an option is a letter from a to d, got {correct!r}"
        raise ValueError(msg)
    final = answer.rpartition(_FINAL)[2].strip().removesuffix(_END)
    return float({wanted} in (options(final), options(answer)))


def _in_common(ours: Sequence[str], theirs: Sequence[str]) -> int:
    """Return how many tokens both have, each as often as in the one that has fewer of it."""
    return (Counter(ours) & Counter(theirs)).total()
