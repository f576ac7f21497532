"""Elsewhere, with another embedder: dimension errors, or searches that return nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra.errors import HomeUnusable
from infra.models import HashEmbedder
from stages.ports import Embedder
from tests.fakes.extras import with_models
from tests.fakes.told import WordEmbedder
from tests.faults.user import SPACE, cited, cli, lived, opened, printed, rows, tell, turn

TALK = [turn("m1", "I live in Oslo."), turn("m2", "The tram was late.")]


class Narrow(HashEmbedder):
    """The same name with vectors of another length, as a truncated model has."""

    @property
    def dimension(self) -> int:
        return 128


@pytest.mark.parametrize(
    ("other", "names"),
    [(WordEmbedder(), (HashEmbedder().model, "words")), (Narrow(), ("dimension 384", "dimension 128"))],
    ids=["another model", "another dimension"],
)
async def test_fault_07_a_home_of_another_embedder_is_refused_and_both_are_named(
    home: Path, other: Embedder, names: tuple[str, str]
) -> None:
    before = await lived(home, *TALK)
    for work in (
        lambda memory: tell(memory, turn("m3", "More.")),
        lambda memory: cited(memory, "Where does Mia live?"),
    ):
        with pytest.raises(HomeUnusable) as refused:
            async with opened(home, other, wait=False) as memory:
                await work(memory)
        assert all(name in str(refused.value) for name in names)
        assert "ANABRANCH" in str(refused.value)
    async with opened(home) as memory:
        assert await cited(memory, "Where does Mia live?", k=1) == ["m1"]
        assert set(before) <= set(rows(memory))


@pytest.mark.parametrize(
    ("other", "names"),
    [
        pytest.param("sentence-transformers:all-MiniLM-L6-v2", (HashEmbedder().model, "MiniLM"), marks=with_models),
        ("sentence-transformers:./nowhere", ("nowhere",)),
    ],
    ids=["another model", "a model that is not there"],
)
async def test_fault_07_the_command_line_refuses_it_with_exit_code_3(
    home: Path, other: str, names: tuple[str, ...]
) -> None:
    await lived(home, *TALK)
    for command in (("recall", "--question", "Where?"), ("context", "--text", "Where?")):
        refused = cli(home, *command, "--space", SPACE, embedder=other)
        assert (refused.exit_code, refused.stdout) == (3, "")
        assert all(name in refused.stderr for name in names), refused.stderr
    checked = {one["name"]: one for one in printed(home, "doctor", code=3, embedder=other)}
    assert checked["encoder"]["verdict"] == "wrong"


async def test_fault_07_commands_that_need_no_vectors_work_with_any(home: Path) -> None:
    await lived(home, *TALK)
    shown = printed(home, "turns", "--space", SPACE, embedder="sentence-transformers:./nowhere")
    assert [(one["turn_id"], one["state"]) for one in shown] == [("m1", "committed"), ("m2", "committed")]
