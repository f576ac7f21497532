"""How weights of features are written down: ``feature=weight`` with semicolons between, in thousandths of a logit."""

from __future__ import annotations

from collections.abc import Mapping


def weights(table: str) -> Mapping[str, int]:
    """Return the weights of a table by feature.

    Raises:
        ValueError: if a weight is not a whole number.
    """
    entries = (entry.strip().rpartition("=") for entry in table.replace("\n", " ").split(";"))
    return {feature: int(weight) for feature, _, weight in entries}
