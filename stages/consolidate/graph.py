"""The graph of what is near: edges above a cosine, connected components, large ones split (AutoViewMem 3.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stages.consolidate.limits import FINEST, MOST
from stages.text.similarity import FULL

_STEP: Final = 10
"""Thousandths by which a threshold is raised."""

_BLOCK: Final = 512
"""Rows of cosines at a time: of 5,000 records they are 20 MB."""


_BUCKETS: Final = 512
"""Sets into which words are put to tell quickly that one statement can't hold another."""


class Edge(NamedTuple):
    """Two nodes by their numbers, the lesser first, and their cosine in thousandths."""

    one: int
    other: int
    score: int


def edges(vectors: Sequence[bytes], least: int) -> list[Edge]:
    """Return the pairs of at least ``least`` thousandths, in order of their numbers."""
    found: list[Edge] = []
    for begin, block in blocks(vectors):
        rows, columns = np.nonzero(block >= least)
        ahead = columns > rows + begin
        for one, other in zip(rows[ahead].tolist(), columns[ahead].tolist(), strict=True):
            found.append(Edge(one + begin, other, int(block[one, other])))
    return found


def holding(vectors: Sequence[bytes], least: int, words: Sequence[Sequence[str]]) -> list[Edge]:
    """Return of ``edges`` those of two nodes of which one may have all ``words`` of the other.

    Thousands of statements in one frame ("has a dog called Rex") are all near each other; few of them hold another.
    """
    inside = _inside(words)
    found: list[Edge] = []
    for begin, block in blocks(vectors):
        own = inside[begin : begin + _BLOCK]
        common, sizes = own @ inside.T, inside.sum(axis=1)
        one_holds = (common == sizes) | (common == own.sum(axis=1)[:, None])
        rows, columns = np.nonzero((block >= least) & one_holds)
        ahead = columns > rows + begin
        for one, other in zip(rows[ahead].tolist(), columns[ahead].tolist(), strict=True):
            found.append(Edge(one + begin, other, int(block[one, other])))
    return found


def _inside(words: Sequence[Sequence[str]]) -> NDArray[np.float32]:
    """Return which of ``_BUCKETS`` sets of words each node has one of: who lacks one can't hold who has it."""
    known = {word: at for at, word in enumerate(dict.fromkeys(word for own in words for word in own))}
    found = np.zeros((len(words), _BUCKETS), dtype=np.float32)
    for at, own in enumerate(words):
        found[at, [known[word] % _BUCKETS for word in own]] = 1
    return found


def closest(vectors: Sequence[bytes], least: int) -> list[Edge]:
    """Return each node with its nearest, if that has at least ``least`` thousandths; each pair once."""
    found: dict[Edge, None] = {}
    for begin, block in blocks(vectors):
        at = np.arange(len(block))
        block[at, at + begin] = -FULL
        best = block.argmax(axis=1)
        for one, other in zip(at.tolist(), best.tolist(), strict=True):
            score = int(block[one, other])
            if score >= least:
                found[Edge(min(one + begin, other), max(one + begin, other), score)] = None
    return list(found)


def blocks(vectors: Sequence[bytes]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield the cosines of some vectors with all, in thousandths, with the number of the first of these.

    Sums below 2^53 are exact in whatever order they are added up, so that a decision is the same on every machine.
    """
    if not vectors:
        return
    matrix = np.frombuffer(b"".join(vectors), dtype=np.int8).reshape(len(vectors), -1).astype(np.float64)
    for begin in range(0, len(vectors), _BLOCK):
        products: NDArray[np.int64] = (matrix[begin : begin + _BLOCK] @ matrix.T).astype(np.int64)
        yield begin, (2000 * products + FULL) // (2 * FULL)


def components(nodes: Iterable[int], found: Iterable[Edge]) -> list[tuple[int, ...]]:
    """Return the connected components in order, each in order, those of one node too."""
    over = {node: node for node in nodes}

    def root(node: int) -> int:
        while over[node] != node:
            over[node] = over[over[node]]
            node = over[node]
        return node

    for edge in found:
        if edge.one in over and edge.other in over:
            low, high = sorted((root(edge.one), root(edge.other)))
            over[high] = low
    parts: dict[int, list[int]] = {}
    for node in sorted(over):
        parts.setdefault(root(node), []).append(node)
    return [tuple(part) for part in parts.values()]


def clusters(count: int, found: Sequence[Edge], least: int) -> list[tuple[int, ...]]:
    """Return what is to be judged together: components of two to ``MOST`` nodes, larger ones split."""
    return sorted(part for part in _split(range(count), found, least) if len(part) > 1)


def _split(nodes: Iterable[int], found: Sequence[Edge], least: int) -> Iterator[tuple[int, ...]]:
    """Yield components, each split by a higher threshold as long as it is too large; at the highest it is cut."""
    for part in components(nodes, found):
        if len(part) <= MOST:
            yield part
        elif least >= FINEST:
            yield from (part[at : at + MOST] for at in range(0, len(part), MOST))
        else:
            higher = min(least + _STEP, FINEST)
            inside = set(part)
            kept = [edge for edge in found if edge.score >= higher and edge.one in inside and edge.other in inside]
            yield from _split(part, kept, higher)
