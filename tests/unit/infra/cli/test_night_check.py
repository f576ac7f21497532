"""``doctor`` on nights: fine, late, or never."""

from __future__ import annotations

from datetime import timedelta

import pytest

from infra.cli.checks import Verdict
from infra.cli.night_check import judged
from tests.fakes.night_runs import NIGHT


@pytest.mark.parametrize(
    ("hours", "verdict", "found"),
    [
        ({}, Verdict.FINE, "no consolidation yet"),
        ({"acme": 24}, Verdict.FINE, "1 tenant; acme was last consolidated 24 hours ago"),
        ({"acme": 24, "zoo": 40}, Verdict.ODD, "2 tenants; zoo was last consolidated 40 hours ago"),
    ],
)
def test_the_tenant_that_waits_longest_is_named(hours: dict[str, int], verdict: Verdict, found: str) -> None:
    check = judged({tenant: NIGHT - timedelta(hours=ago) for tenant, ago in hours.items()}, NIGHT)
    assert check.verdict is verdict
    assert check.found.startswith(found)
    assert (check.advice is not None) == (verdict is Verdict.ODD)
