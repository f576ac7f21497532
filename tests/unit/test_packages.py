"""What packages offer: every name of ``__all__`` exists and is used from outside, and nothing else is imported."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("schemas", "stages", "streams", "infra")
CLIENT = ROOT / "infra" / "client"
SOURCE = CLIENT / "src"  # of a wheel of its own, whose packages have their names from here
PACKAGES = {
    ".".join(path.parent.relative_to(SOURCE if SOURCE in path.parents else ROOT).parts): path.parent
    for room in ROOMS
    for path in sorted((ROOT / room).rglob("__init__.py"))
}
OFFERING = {name: folder for name, folder in PACKAGES.items() if "__all__" in (folder / "__init__.py").read_text()}


def sources() -> Iterator[tuple[Path, str]]:
    """Yield all code: the packages, the tests, and the Python snippets of the two READMEs."""
    for room in (*ROOMS, "tests"):
        for path in sorted((ROOT / room).rglob("*.py")):
            yield path, path.read_text()
    for readme in (ROOT / "README.md", CLIENT / "README.md"):
        for snippet in re.findall(r"```python\n(.*?)```", readme.read_text(), re.DOTALL):
            yield readme, snippet


@cache
def imported() -> dict[str, set[tuple[str, Path]]]:
    """Return by package what is imported from it by name, and in which file."""
    found: dict[str, set[tuple[str, Path]]] = defaultdict(set)
    for path, text in sources():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.module in PACKAGES:
                found[node.module] |= {(alias.name, path) for alias in node.names}
    return found


ENTRY_POINTS = re.findall(r'^\w+ = "([\w.]+):(\w+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)


@pytest.mark.parametrize("package", OFFERING)
def test_every_offered_name_exists_once_and_in_order(package: str) -> None:
    module = import_module(package)
    names = module.__all__
    assert [name for name in names if not hasattr(module, name)] == []
    assert len(set(names)) == len(names)
    assert not any(name.startswith("_") for name in names)


@pytest.mark.parametrize("package", OFFERING)
def test_every_offered_name_is_used_from_outside(package: str) -> None:
    outside = {name for name, path in imported()[package] if OFFERING[package] not in path.parents}
    outside |= {name for module, name in ENTRY_POINTS if module.rpartition(".")[0] == package}
    assert set(import_module(package).__all__) - outside == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_only_offered_names_and_modules_are_imported_from_a_package(package: str) -> None:
    offered = set(getattr(import_module(package), "__all__", ()))
    modules = {path.stem if path.is_file() else path.name for path in PACKAGES[package].iterdir()}
    assert {name for name, _ in imported()[package]} - offered - modules == set()
