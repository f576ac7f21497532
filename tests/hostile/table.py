"""The table of hostile inputs and their outcomes: ``python -m tests.hostile.table`` writes it to README.md.

Payloads come from the lists of cases, everything else from the tests: a name is the input, its docstring the outcome.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

from tests.hostile.case import Case
from tests.hostile.payloads import IDS, JSON, ORDER, TEXTS, TYPES
from tests.hostile.times import TIMES

HERE = Path(__file__).parent
README = HERE / "README.md"

PAYLOADS = {
    "Texts": TEXTS,
    "Fields of the wrong type, missing or unknown": TYPES,
    "JSON": JSON,
    "Ids": IDS,
    "Times": TIMES,
    "Repeats and revisions": ORDER,
}
TESTS = {
    "Scripts": "test_scripts.py",
    "Files and arguments": "test_files.py",
    "What is shown": "test_rendering.py",
    "Crashes of a stage": "test_crashes.py",
    "Signals": "test_signals.py",
    "Disks": "test_disk.py",
    "Homes and models": "test_homes.py",
}

HEAD = """\
# Hostile inputs and their outcomes

Written by `python -m tests.hostile.table` from the cases and tests of this folder; a test keeps it so. After every
input an ordinary turn goes into the same space and is recalled, or, where the disk or the home is at fault, the command
that failed is run again and memory is as if nothing had been.

- *committed*: in memory. *duplicate*: known already, and counted.
- *letter*: refused, with the bytes that came and a reason that has the words quoted here; it has its place in the order
  of the space. *letter alone*: it has none, since no id of it can be believed, or since it is another space's.
"""

_SHOWN = 48
"""Characters of a parameter: enough to know it by."""


def table() -> str:
    """Return the whole document."""
    parts = [HEAD]
    parts += [_section(title, map(_payload, cases)) for title, cases in PAYLOADS.items()]
    parts += [_section(title, told(HERE / name)) for title, name in TESTS.items()]
    return "\n".join(parts)


def _section(title: str, rows: Iterable[tuple[str, str]]) -> str:
    lines = [f"| {_cell(given)} | {_cell(outcome)} |" for given, outcome in rows]
    return "\n".join([f"## {title}", "", "| input | outcome |", "|---|---|", *lines, ""])


def _payload(case: Case) -> tuple[str, str]:
    outcome = ", then ".join(case.outcomes)
    words = ", ".join(f'"{word}"' for word in case.says)
    return case.name, "; ".join(part for part in (outcome, words, case.remark) if part)


def told(file: Path) -> Iterator[tuple[str, str]]:
    """Give the tests of a file: what they put in, and what comes of it.

    Raises:
        ValueError: if a test does not say what comes of it.
    """
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            said = ast.get_docstring(node)
            if said is None:
                msg = f"{file.name}: {node.name} has no docstring that says the outcome"
                raise ValueError(msg)
            name = node.name.removeprefix("test_").replace("_", " ")
            given = ", ".join(f"`{value}`" for value in _parameters(node, file))
            yield f"{name}: {given}" if given else name, " ".join(said.split()).removesuffix(".")


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef, file: Path) -> Iterator[str]:
    """Give the values of a test's parameters that its file names."""
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and isinstance(decorator.args[-1], ast.Name):
            values = getattr(import_module(f"tests.hostile.{file.stem}"), decorator.args[-1].id)
            for value in values:
                text = str(getattr(value, "name", value)) or " "
                yield text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _cell(text: str) -> str:
    """Return a text that stays in its cell, in ASCII where it would not be seen."""
    shown = re.sub(r"[^\x20-\x7e]", lambda found: found[0].encode("ascii", "backslashreplace").decode(), text)
    return shown.replace("|", "\\|")


if __name__ == "__main__":
    README.write_text(table())
    sys.stdout.write(f"{README}\n")
