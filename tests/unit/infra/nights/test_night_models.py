"""A night is decided by the models of the memory's own stages, and what a model answered is kept as theirs is."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from infra.bootstrap import open_embedded
from infra.cli.app import app
from infra.cli.session import Session
from infra.embedded_plane import EmbeddedPlane
from infra.language_models import RESULTS
from infra.nights.deciding import decider_of
from infra.nights.embedded import EmbeddedGround
from infra.settings import Settings
from stages.consolidate import Consolidate
from tests.fakes.night_runs import silent


async def test_the_models_of_a_home_are_those_of_its_stages(tmp_path: Path) -> None:
    named = "openai:http://127.0.0.1:1/v1#some-model"
    settings = Settings(home=tmp_path / "home", embedder="hash:512", language_model=named)
    async with open_embedded(settings) as memory:
        decider = await EmbeddedGround(memory, silent).decider()
        assert isinstance(decider, Consolidate)
        plane = memory.plane
        assert isinstance(plane, EmbeddedPlane)
        assert decider.embedder is plane.decider
        assert decider.language is plane.language
        assert decider.language is not None
        assert decider.language.model == "some-model"
    assert (settings.home / RESULTS).is_file()


async def test_without_a_model_rules_decide(tmp_path: Path) -> None:
    async with open_embedded(Settings(home=tmp_path / "home", embedder="hash")) as memory:
        decider = await EmbeddedGround(memory, silent, decider_of).decider()
    assert isinstance(decider, Consolidate)
    assert decider.language is None


def test_a_gateway_of_a_cluster_consolidates_nothing_and_a_wrong_time_is_none(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for kafka, clock, why in ((None, "25:00", "HH:MM"), ("127.0.0.1:1", "03:00", "a process of its own")):
        settings = Settings(home=home, embedder="hash", kafka=kafka)
        session = Session(settings=lambda settings=settings: settings)  # type: ignore[misc]
        refused = CliRunner().invoke(app, ["serve", "--port", "0", "--consolidate", clock], obj=session)
        assert (refused.exit_code, why in refused.output) == (2, True), refused.output
