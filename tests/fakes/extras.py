"""Tests that need an extra which not everybody has installed. It is looked for, not loaded: that takes seconds."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

with_models = pytest.mark.skipif(
    find_spec("sentence_transformers") is None, reason="the extra `models` is not installed"
)
