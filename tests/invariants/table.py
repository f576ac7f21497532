"""The table of mutations kept as tests: ``python -m tests.invariants.table`` writes it to README.md.

Rows are read from the marks that ``each`` leaves on tests, sections from what the docstrings of their files say.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

from tests.fakes.mutations import Mutation

HERE = Path(__file__).parent
README = HERE / "README.md"

INVARIANTS = {
    1: "Order of effects",
    2: "Stages are pure",
    3: "Positions without a hole",
    4: "Same log, same memory",
    5: "Nobody reads the present",
    6: "Records never change",
    7: "Small states",
    8: "No silent loss",
    9: "Sources stay until what replaces them can be read",
    10: "Spaces know nothing of each other",
    11: "Records name their turns",
}

HEAD = """\
# Invariants and the mutations that break them

Each row is a fault that a test of this folder puts into the real code on purpose; the test passes only if the fault is
caught with the words quoted here. They are the words of the invariant's check, or, after the name of an exception, of
the product, which stops at the fault by itself.

Written by `python -m tests.invariants.table` from the tests; a test keeps it so.
"""

_NUMBER = re.compile(r"Invariant (\d+)\b")


def table() -> str:
    """Return the whole document."""
    sections: dict[int, list[str]] = {number: [] for number in INVARIANTS}
    for path in sorted(HERE.glob("test_*.py")):
        module = import_module(f"tests.invariants.{path.stem}")
        if rows := [_row(mutation, f"{path.name}::{test}") for test, mutation in kept(module)]:
            sections[invariant(module)] += rows
    return "\n".join([HEAD, *(_section(number, rows) for number, rows in sections.items())])


def kept(module: ModuleType) -> Iterator[tuple[str, Mutation]]:
    """Give the mutations of a file's tests, each with the name of its test, in the order of the file."""
    tests = [(name, one) for name, one in vars(module).items() if inspect.isfunction(one)]
    for name, test in tests:
        for mark in getattr(test, "pytestmark", ()):
            if mark.name == "parametrize":
                yield from ((name, value) for value in mark.args[1] if isinstance(value, Mutation))


def invariant(module: ModuleType) -> int:
    """Return the number of the invariant that a file of tests is about.

    Raises:
        ValueError: if its docstring does not begin with one that there is.
    """
    said = _NUMBER.match(module.__doc__ or "")
    if said is None or int(said[1]) not in INVARIANTS:
        msg = f"{module.__name__} has mutations, so its docstring must begin with 'Invariant N', 1 to {max(INVARIANTS)}"
        raise ValueError(msg)
    return int(said[1])


def _section(number: int, rows: list[str]) -> str:
    head = ["| what is broken | what catches it | test |", "|---|---|---|"]
    return "\n".join([f"## {number}. {INVARIANTS[number]}", "", *head, *rows, ""])


def _row(mutation: Mutation, test: str) -> str:
    by = "" if mutation.by is AssertionError else f"{mutation.by.__name__}: "
    return f'| {_cell(mutation.name)} | {by}"{_cell(mutation.caught)}" | `{test}` |'


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    README.write_text(table())
    sys.stdout.write(f"{README}\n")
