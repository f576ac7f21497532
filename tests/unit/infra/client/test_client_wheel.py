"""The wheel stands alone: nothing of anabranch is in it, and it is imported where anabranch is not."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from shutil import which

import pytest

CLIENT = Path(__file__).parents[4] / "infra" / "client"
SOURCE = CLIENT / "src" / "anabranch_client"
ALLOWED = {*sys.stdlib_module_names, "anabranch_client", "httpx"}
UV = which("uv") or str(Path(sys.executable).with_name("uv"))


def plain() -> dict[str, str]:
    """Return an environment in which the folders of this project are not searched."""
    return {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    command = [UV, "build", "--quiet", "--wheel", "--out-dir", str(out), str(CLIENT)]
    # What builds is on this machine since anabranch itself was built; where that was cleared away, it is brought again.
    if subprocess.run([*command, "--offline"], check=False, capture_output=True, env=plain()).returncode:
        subprocess.run(command, check=True, env=plain())
    (built,) = out.glob("anabranch_client-*.whl")
    return built


def test_the_wheel_holds_the_client_alone_and_its_types(wheel: Path) -> None:
    names = {Path(name) for name in zipfile.ZipFile(wheel).namelist()}
    modules = {path.name for path in SOURCE.iterdir() if path.is_file()}
    assert {path.name for path in names if path.parent == Path("anabranch_client")} == modules
    assert "py.typed" in modules
    assert {path.parts[0].partition("-")[0] for path in names} == {"anabranch_client"}


def test_installed_alone_it_is_imported_without_anabranch(wheel: Path, tmp_path: Path) -> None:
    """In a fresh environment with nothing but the wheel, and the folder of its one dependency on the path."""
    environment, python = tmp_path / "venv", str(tmp_path / "venv" / "bin" / "python")
    run = [UV, "--quiet", "--offline", "--no-config"]
    subprocess.run([*run, "venv", "--python", sys.executable, environment], check=True, env=plain())
    subprocess.run([*run, "pip", "install", "--no-deps", "--python", python, wheel], check=True, env=plain())
    modules = [
        f"anabranch_client.{path.stem}" for path in SOURCE.glob("*.py") if path.stem not in {"__init__", "kafka"}
    ]
    program = f"""
import importlib, importlib.metadata, sys
sys.path.append({str(Path(pytest.__file__).parents[1])!r})
for name in {modules!r}:
    importlib.import_module(name)
import anabranch_client
from anabranch_client import *
print(anabranch_client.__file__, importlib.metadata.version("anabranch-client"))
print(sorted({{"schemas", "stages", "streams", "infra", "pydantic", "aiokafka"}} & set(sys.modules)))
"""
    said = subprocess.run(
        [python, "-c", program], check=True, capture_output=True, text=True, cwd=tmp_path, env=plain()
    )
    where, none = said.stdout.splitlines()
    assert where.startswith(str(environment))
    assert none == "[]"


@pytest.mark.parametrize("path", sorted(SOURCE.glob("*.py")), ids=lambda path: path.stem)
def test_it_imports_what_it_depends_on_alone(path: Path) -> None:
    imported = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module or "")
    allowed = ALLOWED | ({"aiokafka"} if path.stem == "kafka" else set())
    assert {name.partition(".")[0] for name in imported} - allowed == set()
