"""The table of this folder is what its cases and tests say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile.table import HERE, PAYLOADS, README, TESTS, table, told
from tests.hostile.test_payloads import CASES


def test_the_table_is_in_step() -> None:
    assert README.read_text() == table(), "run `python -m tests.hostile.table`"


def test_every_case_and_every_file_of_tests_is_in_it() -> None:
    assert [case for cases in PAYLOADS.values() for case in cases] == [
        *PAYLOADS["Texts"], *(case for case in CASES if case not in PAYLOADS["Texts"])
    ]  # fmt: skip
    assert {path.name for path in HERE.glob("test_*.py")} == {*TESTS.values(), "test_payloads.py", "test_readme.py"}


def test_a_test_that_says_no_outcome_is_refused(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text("def test_a():\n    pass\n")
    with pytest.raises(ValueError, match="test_a has no docstring"):
        list(told(tmp_path / "test_x.py"))
