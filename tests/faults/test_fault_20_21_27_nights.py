"""Rows 20, 21 and 27: a night that never runs is seen, makes no more records than there were, and is one at a time."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from infra.errors import HomeBusy
from infra.gateway.embedded import open_served
from infra.models import HashEmbedder
from schemas.memory import ITEM_KINDS, ClosedRow, RecordRow
from tests.fakes.deployed import read
from tests.fakes.gateway import client_of, gateway, settings_of
from tests.fakes.night_runs import NIGHT, ground_of, night
from tests.faults.user import SPACE, tell, turn

OFTEN = ("I have a cat.", "I like jazz.", "I have a cat.", "I like jazz.", "I have a cat.")
LAST = "anabranch_consolidation_last_success_timestamp_seconds"


async def test_fault_21_a_night_makes_fewer_records_and_nights_after_it_none(home: Path) -> None:
    async with ground_of(home) as ground:
        await tell(ground.memory, *(turn(f"t{n}", text) for n, text in enumerate(OFTEN)))
        counts = [_open(ground.memory.rows(SPACE))]
        for day in range(4):
            await night(ground, NIGHT + timedelta(days=day))
            counts.append(_open(ground.memory.rows(SPACE)))
    assert counts[0] > counts[1] == len({*OFTEN})
    assert len({*counts[1:]}) == 1


def _open(rows: object) -> int:
    every = list(rows)  # type: ignore[call-overload]
    closed = {row.id for row in every if isinstance(row, ClosedRow)}
    return sum(isinstance(row, RecordRow) and row.kind in ITEM_KINDS and row.id not in closed for row in every)


async def test_fault_21_when_the_last_night_was_is_a_figure_with_an_alert(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    async with ground_of(settings.home) as ground:
        await tell(ground.memory, turn("t0", "I have a cat."))
        await night(ground)
    async with open_served(settings, HashEmbedder()) as served, client_of(gateway(served, settings), {}) as client:
        page = (await client.get("/metrics")).text
    told = [one for family in text_string_to_metric_families(page) for one in family.samples if one.name == LAST]
    assert [(one.labels, one.value) for one in told] == [({"tenant": "acme"}, NIGHT.timestamp())]
    rules = [rule for group in read("chart/files/alerts.yaml")["groups"] for rule in group["rules"]]
    assert [rule["alert"] for rule in rules if LAST in rule["expr"]] == ["AnabranchNoConsolidation"]


async def test_fault_20_27_a_home_is_consolidated_by_the_process_that_owns_it_and_by_no_other(home: Path) -> None:
    async with ground_of(home):
        with pytest.raises(HomeBusy, match="process"):
            async with ground_of(home):
                pass
    async with ground_of(home) as again:  # the lock ended with its owner
        assert await night(again) == {}
