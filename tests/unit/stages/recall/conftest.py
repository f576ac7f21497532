"""``stages.text.times`` may not be there yet: until it is, the resolver of ``stages.normalize`` stands in for it."""

from __future__ import annotations

import importlib
import importlib.util
import sys

if importlib.util.find_spec("stages.text.times") is None:
    sys.modules["stages.text.times"] = importlib.import_module("stages.normalize.times")
