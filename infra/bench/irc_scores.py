"""Scores of conversation disentanglement: links and the conversations that they make.

Kummerfeld et al. 2019 (A Large-Scale Corpus for Conversation Disentanglement), section 6: links are pooled over all
files, conversations are the connected components of the links. All figures are percentages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, log2
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.optimize import linear_sum_assignment  # type: ignore[import-untyped]

FIRST_SCORED = 1000
"""Messages below this are context: not scored, and no part of a conversation."""

Pair: TypeAlias = tuple[int, int]
"""(antecedent, message); a message that opens a conversation is its own antecedent."""

_Message: TypeAlias = tuple[str, int]
_Clusters: TypeAlias = list[frozenset[_Message]]


class Measure(NamedTuple):
    """Precision, recall and their harmonic mean, in percent."""

    precision: float
    recall: float
    f: float

    @classmethod
    def of(cls, right: int, said: int, true: int) -> Measure:
        """Measure ``right`` hits among ``said`` predictions and ``true`` gold ones; nothing of nothing is 0."""
        return cls(_percent(right, said), _percent(right, true), _percent(2 * right, said + true))


@dataclass(frozen=True, slots=True)
class Scores:
    """How predicted links compare with gold ones, in percent; ``variation`` is 1 - VI / log2 n."""

    links: Measure
    exact: Measure
    variation: float
    one_to_one: float
    rand: float


def read_annotation(text: str) -> set[Pair]:
    """Read the lines ``a b -`` of an annotation file; the greater number is the message.

    Raises:
        ValueError: if a line does not begin with two numbers.
    """
    numbers = [sorted(int(word) for word in line.split()[:2]) for line in text.splitlines() if line.strip()]
    return {(first, second) for first, second in numbers}


def scores(gold: Mapping[str, Iterable[Pair]], predicted: Mapping[str, Iterable[Pair]]) -> Scores:
    """Compare the links of files by name. Only messages that gold annotates (from ``FIRST_SCORED`` on) count."""
    true = {(name, pair) for name, pairs in gold.items() for pair in pairs if pair[1] >= FIRST_SCORED}
    messages = {(name, pair[1]) for name, pair in true}
    said = {(name, pair) for name, pairs in predicted.items() for pair in pairs if (name, pair[1]) in messages}
    theirs, ours = _clusters(true, messages), _clusters(said, messages)
    overlaps = _overlaps(theirs, ours)
    return Scores(
        links=Measure.of(len(true & said), len(said), len(true)),
        exact=_exact(theirs, ours),
        variation=_variation(theirs, ours, overlaps),
        one_to_one=_one_to_one(theirs, ours, overlaps),
        rand=_rand(theirs, ours, overlaps),
    )


def _clusters(links: Collection[tuple[str, Pair]], messages: Iterable[_Message]) -> _Clusters:
    """Return the connected components; a link to a message that is not scored joins nothing."""
    root = {message: message for message in messages}

    def find(message: _Message) -> _Message:
        while root[message] != message:
            root[message] = root[root[message]]
            message = root[message]
        return message

    for name, (first, second) in sorted(links):
        if (name, first) in root:
            root[find((name, second))] = find((name, first))
    found: dict[_Message, set[_Message]] = {}
    for message in root:
        found.setdefault(find(message), set()).add(message)
    return [frozenset(found[key]) for key in sorted(found)]


def _overlaps(theirs: _Clusters, ours: _Clusters) -> Counter[Pair]:
    """Return how many messages each pair of clusters shares."""
    place = {message: index for index, cluster in enumerate(ours) for message in cluster}
    return Counter((index, place[message]) for index, cluster in enumerate(theirs) for message in cluster)


def _exact(theirs: _Clusters, ours: _Clusters) -> Measure:
    true, said = ({cluster for cluster in clusters if len(cluster) > 1} for clusters in (theirs, ours))
    return Measure.of(len(true & said), len(said), len(true))


def _variation(theirs: _Clusters, ours: _Clusters, overlaps: Counter[Pair]) -> float:
    total = sum(overlaps.values())
    if total < 2:  # noqa: PLR2004 - one message can be put in one way only
        return 100.0
    information = sum(
        count / total * (log2(count / len(theirs[i])) + log2(count / len(ours[j])))
        for (i, j), count in sorted(overlaps.items())
    )
    return 100.0 * (1 + information / log2(total))


def _one_to_one(theirs: _Clusters, ours: _Clusters, overlaps: Counter[Pair]) -> float:
    table = np.zeros((len(theirs), len(ours)), dtype=np.int64)
    for (i, j), count in overlaps.items():
        table[i, j] = count
    rows, columns = linear_sum_assignment(table, maximize=True)
    return _percent(int(table[rows, columns].sum()), sum(overlaps.values()))


def _rand(theirs: _Clusters, ours: _Clusters, overlaps: Counter[Pair]) -> float:
    """Return the adjusted Rand index (Hubert and Arabie 1985)."""
    together = _pairs(overlaps.values())
    true, said = _pairs(map(len, theirs)), _pairs(map(len, ours))
    everything = comb(sum(overlaps.values()), 2)
    expected = true * said / everything if everything else 0.0
    most = (true + said) / 2
    return 100.0 if most == expected else 100.0 * (together - expected) / (most - expected)


def _pairs(sizes: Iterable[int]) -> int:
    return sum(comb(size, 2) for size in sizes)


def _percent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 0.0


__all__: Sequence[str] = ["FIRST_SCORED", "Measure", "Pair", "Scores", "read_annotation", "scores"]
