"""``bench irc``: the forest of a channel against annotated reply links, beside two baselines."""

from __future__ import annotations

import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from infra.bench.filled import filled
from infra.bench.irc_baselines import addressee_or_same_speaker, previous_message, read_log
from infra.bench.irc_scores import Pair, Scores, read_annotation, scores
from infra.bench.report import keep, provenance, table
from infra.embedders import make_embedder
from infra.importers import Format, read
from infra.importers.files import files
from infra.memory_api import Memory
from infra.settings import Settings
from schemas.memory import RecordRow, TurnDetail
from schemas.space import Space

_LOG, _LINKS = ".ascii.txt", ".annotation.txt"


async def run_irc(settings: Settings, path: Path, console: Console, raw: Path | None) -> None:
    """Ingest annotated channels and print how their placements compare with the annotated reply links."""
    with unpacked(path) as folder:
        gold = {_name(file, _LINKS): read_annotation(file.read_text()) for file in files(folder, _LINKS)}
        embedder = make_embedder(settings.embedder, threads=settings.threads, key=settings.embedder_key)
        async with filled(settings, read(folder, Format.IRC), console, embedder) as (memory, sums):
            provenance(console, path, embedder.model, sums)
            predicted = {name: _placed(memory, Space(f"irc/{name}")) for name in gold}
            keep(raw, (answer for name, links in gold.items() for answer in _answers(memory, name, links)))
        systems = {"anabranch": predicted} | _baselines(folder)
    rows = [_row(name, scores(gold, pairs)) for name, pairs in systems.items()]
    columns = ["system", "link P", "link R", "link F", "exact P", "exact R", "exact F", "1-VI", "1-1", "ARI"]
    table(console, "Ubuntu IRC: links and conversations, percent", columns, rows)


def _placed(memory: Memory, space: Space) -> set[Pair]:
    """Return the links of every turn: to its parents, or to itself where it opens a conversation."""
    pairs: set[Pair] = set()
    for turn in _turns(memory, space):
        message, placement = int(turn.turn_id), turn.placement
        parents = [placement.parent_turn_id, *placement.other_parents]
        links = {(int(parent), message) for parent in parents if parent is not None}
        pairs |= links or {(message, message)}
    return pairs


def _turns(memory: Memory, space: Space) -> Iterator[TurnDetail]:
    return (row.turn for row in memory.rows(space) if isinstance(row, RecordRow) and row.turn is not None)


def _answers(memory: Memory, name: str, gold: Collection[Pair]) -> Iterator[dict[str, Any]]:
    """Give the placement of each annotated message beside its gold antecedents (itself: it opens a conversation)."""
    true: defaultdict[int, list[int]] = defaultdict(list)
    for first, second in sorted(gold):
        true[second].append(first)
    for turn in _turns(memory, Space(f"irc/{name}")):
        if (message := int(turn.turn_id)) in true:
            placed = turn.placement.model_dump(mode="json")
            yield {"channel": name, "message": message, "antecedents": true[message], "placement": placed}


def _baselines(folder: Path) -> dict[str, Mapping[str, set[Pair]]]:
    logs = {_name(file, _LOG): read_log(file.read_text()) for file in files(folder, _LOG)}
    return {
        "addressee, else same speaker": {name: addressee_or_same_speaker(lines) for name, lines in logs.items()},
        "previous message": {name: previous_message(lines) for name, lines in logs.items()},
    }


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """Give a folder: the path itself, or what its archive holds."""
    if not path.name.endswith(".tar.gz"):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="anabranch-irc-") as folder, tarfile.open(path) as archive:
        archive.extractall(folder, filter="data")
        yield Path(folder)


def _name(file: Path, ending: str) -> str:
    return file.name.removesuffix(ending)


def _row(name: str, found: Scores) -> list[str]:
    figures = [*found.links, *found.exact, found.variation, found.one_to_one, found.rand]
    return [name, *(f"{figure:.1f}" for figure in figures)]
