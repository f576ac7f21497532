"""The table of this folder is what its tests say; no invariant is without a mutation, and no mutation without a row."""

from __future__ import annotations

import ast
from types import ModuleType

import pytest

from tests.fakes.mutations import Mutation, each
from tests.invariants.table import HERE, INVARIANTS, README, invariant, kept, table

ONE, TWO = (Mutation(name, lambda _patch: None, "caught") for name in ("one", "two"))


def test_the_table_is_in_step() -> None:
    assert README.read_text() == table(), "run `python -m tests.invariants.table`"


def test_every_invariant_has_a_mutation() -> None:
    first, *sections = table().split("\n## ")
    assert "::test_" not in first
    assert len(sections) == len(INVARIANTS)
    assert [section.splitlines()[0] for section in sections if "::test_" not in section] == []


def test_every_test_that_takes_a_mutation_is_in_it() -> None:
    """Also one that is marked in a way that the table does not read."""
    written = table()
    for path in HERE.glob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                takes = "mutation" in (arg.arg for arg in node.args.args)
                assert takes == (f"`{path.name}::{node.name}`" in written), f"{path.name}: {node.name}"


def test_all_mutations_of_a_test_are_read_and_nothing_else() -> None:
    @pytest.mark.parametrize("other", [1, 2])
    @each(ONE, TWO)
    @pytest.mark.timeout(1)
    def broken(mutation: Mutation, other: int) -> None: ...

    module = ModuleType("test_x")
    vars(module).update(broken=broken, whole=lambda: None, each=each, ONE=ONE)
    assert list(kept(module)) == [("broken", ONE), ("broken", TWO)]


@pytest.mark.parametrize(
    "said", [None, "", "About invariant 3.", "Invariant 12: none such.", "Invariant 0: none such."]
)
def test_a_file_that_names_no_invariant_is_refused(said: str | None) -> None:
    with pytest.raises(ValueError, match="test_x has mutations, so its docstring must begin with"):
        invariant(ModuleType("test_x", said))
