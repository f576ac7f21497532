"""Named and titled things of a text: quoted titles and capitalised runs.

No kept library finds them offline within the time that a turn has (taggers cost 5 ms a turn and a download), so these
are cue patterns of our own. They read case, so scripts without it give only what is set in title marks; German nouns,
all written with a capital, give names that are none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from stages.normalize.reading import Sentence
from stages.text.tokens import content_tokens

_FENCE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_QUOTED = re.compile(
    r'(?<![\w])"([^"\n]{2,80})"|“([^”\n]{2,80})”|«([^»\n]{2,80})»|„([^“”\n]{2,80})[“”]'
    r"|《([^》\n]{1,60})》|『([^』\n]{1,60})』|「([^」\n]{1,20})」|(?<![\w])\u2018([^\u2019\n]{2,80})\u2019(?!\w)"
)
_WORD = re.compile(r"(?<![@#/\w])[^\W_]+(?:['\u2019&.\-][^\W_]+)*")
_OWNED = re.compile(r" [\w\"“]")
"""What follows a possessive; "at Luigi's." is a name as it stands."""

_SMALL = frozenset(
    "a an and at by da de del der di du en et for from in la le of on or the to van von vs with y".split()
)
_JOINS = frozenset("of the de la le du del da di van von der den for".split())
"""Words that may stand in lower case inside a name."""

_NEVER = frozenset(
    "i i'm i've i'll i'd ok okay lol omg wow hey hi hello hiya thanks thank thx yes yeah yep yup no nope nah oh ah aw "
    "well sure cool nice great awesome congrats congratulations sorry please bye cheers good morning night evening "
    "afternoon happy let let's lets maybe also then now sounds absolutely definitely exactly totally really glad "
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december mon tue wed thu fri sat sun jan feb mar apr jun jul aug sep sept oct nov dec "
    "am pm today tomorrow yesterday todo fyi btw imo asap ps http https www mr mrs ms dr however here there what's "
    "that's it's he's she's they're we're you're".split()
)
"""Capitalised words that name nothing by themselves: exclamations, greetings, days and months (normalize.4's)."""

_ADDRESSED = re.compile(
    r"(?:\b(?:hey|hi|hello|dear|thanks|thank you|congrats|wow|yeah|bye)\W{1,2}|,\s)$", re.IGNORECASE
)
_AFTER_ADDRESS = re.compile(r"[!?.,;:]|\s*$")
"""Names between these call the other; they say nothing of what a turn is about."""

MOST_NAMES = 24
LONGEST_NAME = 60
"""Names kept of a turn and characters of one: enough for a parse, and a turn that lists a thousand stays a record."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name as written in ``[start, end)`` of a text. ``quoted`` marks one in title marks."""

    text: str
    start: int
    end: int
    quoted: bool


def without_code(text: str) -> str:
    """Return ``text`` with what is between backticks blanked out, character for character."""
    return _FENCE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text) if "`" in text else text


def names(text: str, sentences: Sequence[Sentence]) -> list[Name]:
    """Return the names of ``text``, whose sentences are given, in order of appearance, not overlapping."""
    found: list[Name] = []
    runs = _runs(text, {sentence.start for sentence in sentences})
    for name in sorted([*_titles(text), *runs], key=lambda name: (name.start, not name.quoted)):
        if not found or name.start >= found[-1].end:
            found.append(name)
    return found


def distinct(found: Sequence[Name]) -> tuple[str, ...]:
    """Return the texts of names without repeats, in order of appearance, at most ``MOST_NAMES``."""
    first = {name.text.casefold(): name.text for name in reversed(found)}
    kept = dict.fromkeys(first[name.text.casefold()] for name in found)
    return tuple(kept)[:MOST_NAMES]


def is_address(text: str, name: Name) -> bool:
    """Tell whether a name calls the person spoken to ("Hey Mel,")."""
    before = text[max(0, name.start - 12) : name.start]
    return not name.quoted and bool(_ADDRESSED.search(before)) and bool(_AFTER_ADDRESS.match(text, name.end))


def _titles(text: str) -> list[Name]:
    found = []
    for match in _QUOTED.finditer(text):
        group = match.lastindex or 0
        title = match.group(group).strip().rstrip(",.!?;:")
        if _is_title(title):
            found.append(Name(title[:LONGEST_NAME], match.start(), match.end(), quoted=True))
    return found


def _is_title(title: str) -> bool:
    words = title.split()
    if not words or len(words) > 9 or not any(char.isalpha() for char in title):  # noqa: PLR2004 - the longest of titles
        return False
    cased = [word for word in words if word.lower() != word.upper()]
    written = all(
        word[0].isupper() or word[0].isdigit() or word.lower() in _SMALL for word in cased if word[0].isalnum()
    )
    return written and not (words[0].islower() and words[0] in _SMALL) and not hollow(title)


@lru_cache(maxsize=16384)
def hollow(phrase: str) -> bool:
    """Tell whether ``phrase`` is made of function words only ("That", "I don't")."""
    return not content_tokens(phrase.replace("'", " ").replace("\u2019", " "))


def _runs(text: str, starts: set[int]) -> list[Name]:
    words = [(match.start(), match.end(), match.group()) for match in _WORD.finditer(text)]
    capitals = [place for place, word in enumerate(words) if word[2][0].isupper()]
    inside = {words[place][2] for place in capitals if words[place][0] not in starts}
    found: list[Name] = []
    end = 0
    for place in capitals:
        if place < end:
            continue
        end = _run_end(text, words, place) + 1
        run = _bare(words[place:end], starts, inside, text)
        if run is not None:
            found.append(run)
    return found


_Words = Sequence[tuple[int, int, str]]


def _run_end(text: str, words: _Words, first: int) -> int:
    """Return the index of the last word of the run that begins with the capitalised word at ``first``."""
    last = first
    joins = 0
    for index in range(first + 1, min(len(words), first + 10)):
        if text[words[index - 1][1] : words[index][0]] not in {" ", " & ", ". "} or _stops(text, words, index):
            break
        word = words[index][2]
        if word[0].isupper() or (word.isdigit() and joins == 0 and last == index - 1):
            last, joins = index, 0
        elif word in _JOINS and joins < 2:  # noqa: PLR2004 - "of the"
            joins += 1
        else:
            break
    return last


def _stops(text: str, words: _Words, index: int) -> bool:
    """Tell whether a full stop before the word ends a sentence and not an initial ("J. K. Rowling")."""
    before = words[index - 1]
    return text[before[1]] == "." and not (len(before[2]) <= 3 and before[2].isupper())  # noqa: PLR2004 - "J.K"


def _bare(run: _Words, starts: set[int], inside: set[str], text: str) -> Name | None:
    """Return the name in a run of capitalised words, without what only stands there or begins a sentence."""
    words = list(run)
    initial = words[0][0] in starts or text[words[0][0] - 1 : words[0][0]] in {'"', "“", "*", "(", "["}
    while words and (_nameless(words[0][2]) or (initial and _opens(words, inside, text))):
        words.pop(0)
        initial = False
    while words and (_nameless(words[-1][2]) or words[-1][2] in _JOINS):
        words.pop()
    if not words:
        return None
    end = words[-1][1] - (2 if words[-1][2].endswith(("'s", "\u2019s")) and _OWNED.match(text, words[-1][1]) else 0)
    name = text[words[0][0] : end]
    return Name(name[:LONGEST_NAME], words[0][0], end, quoted=False) if _worthy(name) else None


def _nameless(word: str) -> bool:
    return word.lower().replace("\u2019", "'") in _NEVER or hollow(word)


def _opens(words: _Words, inside: set[str], text: str) -> bool:
    """Tell whether the first word has its capital from the beginning of the sentence only."""
    word, end = words[0][2], words[0][1]
    if word in inside or word.isupper() or any(char.isdigit() for char in word):
        return False
    alone = len(words) == 1
    return word.endswith("ing") or (alone and not re.match(r"(?:,| and| &) [A-Z]\w", text[end : end + 10]))


def _worthy(name: str) -> bool:
    shouted = name.isupper() and len(name) > 6  # noqa: PLR2004 - longer runs in capitals are shouting, not acronyms
    return len(name) > 1 and not shouted and not name.isdigit()
