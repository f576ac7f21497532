"""Registers the profiles before the tests of this folder ask for one."""

from __future__ import annotations

import pytest

from tests.fakes import effort

effort.register()
PATIENCE = 4 * 3600
"""Seconds that a test of the thorough profile may take: hypothesis shrinks what it finds for some minutes."""


def pytest_report_header() -> str:
    return f"property tests: {effort.chosen()} (HYPOTHESIS_PROFILE)"


def pytest_itemcollected(item: pytest.Item) -> None:
    if effort.chosen() == effort.THOROUGH:
        item.add_marker(pytest.mark.timeout(PATIENCE))
