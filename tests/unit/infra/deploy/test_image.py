"""The image's recipe: what it copies and names is there, and it has what the command needs."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib

from tests.fakes.deployed import DEPLOY, ROOT, wrong_names

RECIPE = (DEPLOY / "Containerfile").read_text()
JOINED = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", RECIPE, flags=re.MULTILINE))
LINES = [line for line in JOINED.splitlines() if line.strip()]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_all_that_is_copied_is_there_and_all_packages_are() -> None:
    sources = [
        word for line in LINES if line.startswith("COPY ") and "--from" not in line for word in line.split()[1:-1]
    ]
    assert [name for name in sources if not (ROOT / name).exists()] == []
    assert set(PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) <= set(sources)
    kept = (DEPLOY / "Containerfile.dockerignore").read_text().splitlines()
    assert {f"!{name}" for name in sources} <= set(kept)
    assert kept[1] == "*"


def test_its_extras_exist() -> None:
    (extras,) = [line.partition("=")[2].split(",") for line in LINES if line.startswith("ARG EXTRAS=")]
    known = set(PROJECT["project"]["optional-dependencies"])
    if not (ROOT / "infra" / "gateway").is_dir():
        known |= {"gateway"}
    assert set(extras) <= known
    assert {"kafka", "models"} <= set(extras)


def test_dependencies_are_listed_as_the_project_says() -> None:
    (line,) = [line for line in LINES if "tomllib" in line]
    listing = shlex.split(line.partition("RUN ")[2].partition(">")[0].replace("${EXTRAS}", "kafka,otel"))
    ran = subprocess.run([sys.executable, *listing[1:]], cwd=ROOT, capture_output=True, text=True, check=True)
    extras = PROJECT["project"]["optional-dependencies"]
    assert ran.stdout.splitlines() == [*PROJECT["project"]["dependencies"], *extras["kafka"], *extras["otel"]]


def test_it_runs_the_command_as_nobody_special() -> None:
    after = JOINED.rpartition("\nFROM ")[2]
    assert 'ENTRYPOINT ["anabranch"]' in after
    assert "anabranch" in PROJECT["project"]["scripts"]
    assert re.search(r"^USER (\d+):\1$", after, re.MULTILINE)
    assert "HEALTHCHECK" not in JOINED


def test_its_settings_exist_and_it_names_no_host() -> None:
    assert wrong_names(re.findall(r"\b(ANABRANCH_\w+)=", RECIPE)) == []
    assert "://" not in RECIPE


def test_its_python_is_one_that_the_project_takes() -> None:
    (version,) = re.findall(r"^ARG PYTHON=(\d+\.\d+)-slim$", RECIPE, re.MULTILINE)
    least = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert tuple(map(int, version.split("."))) >= tuple(map(int, least.split(".")))


def test_the_wheel_has_not_what_it_is_put_into() -> None:
    assert PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["exclude"] == ["infra/client", "infra/deploy"]


def test_the_image_of_language_models_has_the_extras_and_keeps_to_nobodys_pins() -> None:
    recipe = (DEPLOY / "Containerfile.llm").read_text()
    sources = [word for line in recipe.splitlines() if line.startswith("COPY ") for word in line.split()[1:-1]]
    assert [name for name in sources if not (ROOT / name).exists()] == []
    assert set(PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) <= set(sources)
    kept = (DEPLOY / "Containerfile.llm.dockerignore").read_text().splitlines()
    assert {f"!{name}" for name in sources} <= set(kept)
    (extras,) = re.findall(r'pip install "\.\[([\w,]+)\]"', recipe)
    assert {"serve", "llm"} <= set(extras.split(",")) <= set(PROJECT["project"]["optional-dependencies"])
    assert "--constraint" not in recipe, "vLLM pins its own torch"
    assert wrong_names(re.findall(r"\b(ANABRANCH_\w+)=", recipe)) == []
    assert re.search(r"^USER (\d+):\1$", recipe, re.MULTILINE)
