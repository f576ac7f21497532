"""A home for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.folders import quick_folder


@pytest.fixture
def home() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder / "home"


@pytest.fixture
def second() -> Iterator[Path]:
    """Another home, for what must be the same everywhere."""
    with quick_folder() as folder:
        yield folder / "home"
