"""``bench merges``: a threshold of consolidation for an encoder, on labelled pairs and on a conversation.

The conversation is read with hashed vectors, which take no time; the encoder in question embeds its statements.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from infra.bench.filled import filled, warmed
from infra.bench.report import percent, provenance, table
from infra.errors import UsageError
from infra.importers import Format, read
from infra.models import HashEmbedder
from infra.settings import Settings
from schemas.extracted import Key
from schemas.header import RecordRole, record_id
from schemas.interval import Grain, Interval
from schemas.memory import RecordKind, RecordRow
from schemas.space import Space
from schemas.turn import Speaker
from stages.consolidate import Consolidate, Limits, Live, closeness, limits_of, live
from stages.ports import Embedder

_SPACE: Final = Space("bench/merges")
_STEPS: Final = (*range(450, 950, 50), 950, 975)
_ALL: Final = 64


@dataclass(frozen=True, slots=True)
class Pair:
    """Two records that left working memory, whether they should become one, and whether only a model can tell."""

    name: str
    merge: bool
    needs_model: bool
    live: tuple[Live, ...]

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Pair:
        """Read a line of labelled pairs."""
        sides = (_side(given, side, since) for since, side in enumerate("ab"))
        return cls(given["id"], given["merge"], bool(given.get("needs_model")), tuple(map(Live, sides)))

    @property
    def texts(self) -> tuple[str, ...]:
        """Both texts."""
        return tuple(one.row.text for one in self.live)


@dataclass(frozen=True, slots=True)
class Kept:
    """An embedder that asks for each text once: a pass for each pair and threshold would wait some 10,000 times."""

    inner: Embedder
    known: dict[str, bytes] = field(default_factory=dict)

    @property
    def model(self) -> str:
        """The name of the encoder."""
        return self.inner.model

    @property
    def dimension(self) -> int:
        """Bytes of a vector."""
        return self.inner.dimension

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return a vector for each text, in order."""
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        if new:
            self.known.update(zip(new, await self.inner.embed(new), strict=True))
        return [self.known[text] for text in texts]

    async def embed_query(self, text: str) -> bytes:
        """Return the vector of a single text."""
        return (await self.embed([text]))[0]


def _side(given: Mapping[str, Any], side: str, since: int) -> RecordRow:
    """Return a side as rules write it: where they know no attribute its key has one that tells nothing apart."""
    said = given[side]
    kind = RecordKind(given["kind"])
    owner, subject = said["owner"], said["subject"]
    if subject is None and kind is not RecordKind.ATTRIBUTE:
        subject = f"branch:{said['branch']}"
    times = None if said["interval"] is None else tuple(map(datetime.fromisoformat, said["interval"]))
    return RecordRow(
        space=_SPACE,
        id=record_id(_SPACE, since, RecordRole.ITEM),
        kind=kind,
        text=said["text"],
        owner=owner,
        speaker=Speaker(id=owner, name=owner),
        at=datetime.fromisoformat(said["at"]),
        key=Key(owner=owner, subject=subject, attribute=said["attribute"] or f"other:word-{side}"),
        views=("other",),
        negated=said["negated"],
        interval=None if times is None else Interval(start=times[0], end=times[1], grain=Grain.DAY),
        provenance=(said["turn_id"],),
        since=since,
        branch=said["branch"],
    )


def read_pairs(path: Path) -> tuple[Pair, ...]:
    """Return the pairs of a file.

    Raises:
        UsageError: if a line is not of their shape.
    """
    try:
        return tuple(Pair.of(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines())
    except (OSError, ValueError, KeyError, TypeError) as error:
        msg = f"{path} holds no labelled pairs: {type(error).__name__}: {error}"
        raise UsageError(msg) from error


async def joined(consolidate: Consolidate, pairs: Sequence[Pair]) -> set[str]:
    """Return the names of the pairs that become one record."""
    consolidate = replace(consolidate, embedder=Kept(consolidate.embedder))
    await consolidate.embedder.embed([text for pair in pairs for text in pair.texts])
    return {pair.name for pair in pairs if (await consolidate.merges(_SPACE, pair.live, _ALL)).decisions}


async def run_merges(  # noqa: PLR0917 - a run is of that many things
    settings: Settings, path: Path, labelled: Path, kind: Format, turns: int, console: Console
) -> None:
    """Print, by threshold, what is proposed in up to ``turns`` turns and of the pairs, and what rules join."""
    pairs = read_pairs(labelled)
    embedder = Kept(await warmed(settings))
    filling = settings.model_copy(update={"embedder": "hash"})
    async with filled(filling, islice(read(path, kind), turns), console, HashEmbedder()) as (memory, sums):
        spaces = sorted({event.space_key for event in islice(read(path, kind), turns)})
        scores = [score for space in spaces for score in await closeness(embedder, live(memory.rows(space)))]
        provenance(console, path, embedder.model, sums)
    near = {pair.name: max(await closeness(embedder, pair.live), default=-1) for pair in pairs}
    steps = sorted({*_STEPS, limits_of(embedder.model).merge})
    rows = [[str(step), *_proposed(scores, step), *await _held(embedder, pairs, near, step)] for step in steps]
    columns = ["from", "pairs of a key", "share", "to merge: proposed", "by rules", "others: proposed", "by rules"]
    table(console, f"Thresholds in thousandths; {embedder.model} uses {limits_of(embedder.model).merge}", columns, rows)


def _proposed(scores: Sequence[int], step: int) -> tuple[str, str]:
    near = sum(score >= step for score in scores)
    return str(near), percent(near / len(scores)) if scores else "-"


async def _held(embedder: Embedder, pairs: Sequence[Pair], near: Mapping[str, int], step: int) -> list[str]:
    """Return which share of the pairs that should merge is proposed, and by rules merged; then of the others."""
    done = await joined(Consolidate(embedder, limits=Limits(merge=step, theme=step)), pairs)
    told: list[str] = []
    for wanted in (True, False):
        every = [pair for pair in pairs if pair.merge is wanted]
        ruled = [pair for pair in every if not pair.needs_model]
        # What is one word for word needs no proposal.
        told.append(percent(sum(near[pair.name] >= step or pair.name in done for pair in every) / max(len(every), 1)))
        told.append(percent(sum(pair.name in done for pair in ruled) / max(len(ruled), 1)))
    return told
