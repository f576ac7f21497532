"""``bench merges``: what it reads, and its table on a short conversation."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from infra.bench.merges_run import Kept, read_pairs, run_merges
from infra.errors import UsageError
from infra.importers import Format
from infra.settings import Settings
from tests.fakes.embedder import DigestEmbedder
from tests.fakes.real_home import story

PAIRS = Path(__file__).parents[3] / "data" / "merge_pairs.jsonl"


async def test_the_table_says_what_each_threshold_proposes_and_joins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, few = tmp_path / "log.jsonl", tmp_path / "pairs.jsonl"
    log.write_bytes(b"\n".join(story(12)))
    wanted = [line for line in PAIRS.read_text().splitlines() if '"exact-0' in line or '"other_time-0' in line]
    few.write_text("\n".join(wanted))
    await run_merges(Settings(embedder="hash:64"), log, few, Format.JSONL, 12, Console(width=200))
    printed = capsys.readouterr().out
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in printed.splitlines() if line.startswith("│")]
    thresholds = [int(row[0]) for row in rows]
    assert thresholds == sorted(thresholds)
    assert 900 in thresholds
    assert all(row[4] == "100.0" and row[6] == "0.0" for row in rows)
    proposed = [int(row[1]) for row in rows]
    assert proposed == sorted(proposed, reverse=True)


@pytest.mark.parametrize("text", ["{}", "no line of JSON"])
def test_what_holds_no_pairs_is_refused_by_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "pairs.jsonl").write_text(text)
    with pytest.raises(UsageError, match=r"pairs\.jsonl holds no labelled pairs"):
        read_pairs(tmp_path / "pairs.jsonl")


async def test_a_text_is_embedded_once() -> None:
    inner = DigestEmbedder()
    kept = Kept(inner)
    assert await kept.embed(["a", "b", "a"]) == await kept.embed(["a", "b", "a"])
    assert await kept.embed_query("b") == (await kept.embed(["b"]))[0]
    assert inner.calls == [["a", "b"]]
    assert (kept.model, kept.dimension) == (inner.model, inner.dimension)
