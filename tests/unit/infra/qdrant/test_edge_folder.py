"""One owner, one content: what an index folder refuses, and how it says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.qdrant import EdgeIndex, IndexInUseError, IndexMismatchError
from schemas.space import Space
from stages.contract import Unavailable
from tests.fakes.folders import quick_folder
from tests.fakes.index_rows import event, record

A = Space("acme/a")


@pytest.fixture
def folder() -> Iterator[Path]:
    with quick_folder() as made:
        yield made / "index"


def opened(folder: Path, generation: int = 1, model: str = "minilm@1", dimension: int = 4) -> EdgeIndex:
    return EdgeIndex.open(folder, generation=generation, model=model, dimension=dimension)


@pytest.mark.parametrize("other", [{"generation": 2}, {"model": "e5@7"}, {"dimension": 8}])
async def test_another_generation_model_or_dimension_is_refused_naming_both(
    folder: Path, other: dict[str, int | str]
) -> None:
    await opened(folder).close()
    with pytest.raises(IndexMismatchError) as refused:
        opened(folder, **other)  # type: ignore[arg-type]  # a table gives the arguments by name
    message = str(refused.value)
    assert "generation 1, model 'minilm@1', dimension 4" in message
    assert repr(next(iter(other.values()))) in message
    assert "anabranch reindex" in message
    await opened(folder).close()  # a refusal lets go of the folder


async def test_a_folder_is_opened_once_at_a_time(folder: Path) -> None:
    index = opened(folder)
    with pytest.raises(IndexInUseError, match="already open in this process"):
        opened(folder.parent / "." / "index")
    await index.close()
    again = opened(folder)
    await index.close()  # closing the first again must not let go of the second's folder
    with pytest.raises(IndexInUseError):
        opened(folder)
    await again.close()


async def test_a_shard_without_or_with_a_foreign_manifest_is_refused(folder: Path) -> None:
    await opened(folder).close()
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"layout":3', '"layout":2'))
    with pytest.raises(IndexMismatchError, match=r"another version.*reindex --derive"):
        opened(folder)
    manifest.unlink()
    with pytest.raises(IndexMismatchError, match="without a manifest"):
        opened(folder)


async def test_a_start_that_broke_off_before_the_shard_was_made_goes_on(folder: Path) -> None:
    await opened(folder).close()
    for path in sorted((folder / "shard").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    index = opened(folder)
    await index.write(A, [event(A, 0, [record(A, 0)])])
    await index.close()


async def test_a_damaged_shard_is_unavailable(folder: Path) -> None:
    await opened(folder).close()
    (folder / "shard" / "edge_config.json").write_text("{")
    with pytest.raises(Unavailable, match="does not open"):
        opened(folder)
