"""The report of a night: what was merged and why, what was left apart, what was refused, and what is left to do."""

from __future__ import annotations

import pytest

from infra.cli import night_report
from infra.models import HashEmbedder
from infra.nights.api import Told
from schemas.space import Space
from stages.consolidate import Consolidate, live
from tests.fakes.night_runs import of_other_code
from tests.fakes.nightly import SPACE, left, remembered

RED, BLUE = (
    "Mia's sailing boat in the old harbour of Kiel is red.",
    "Mia's sailing boat in the old harbour of Kiel is blue.",
)


async def night(**more: object) -> Told:
    """Return what a night says of a thing told three times, and of two claims that contradict each other."""
    rows = [remembered("Mia has a cat.", at) for at in range(3)] + [remembered(RED, 5), remembered(BLUE, 6)]
    plan = await Consolidate(HashEmbedder()).merges(SPACE, live(left(rows)), 100)
    texts = {row.id: row.text for row in rows}
    return Told(SPACE, "night-1", decisions=list(plan.decisions), apart=list(plan.apart), texts=texts, **more)  # type: ignore[arg-type]


async def test_a_conflict_is_kept_apart_and_the_report_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    told = await night()
    night_report.show(told, dry=False)
    shown = capsys.readouterr().out
    assert "    - Mia has a cat. (3 times)\n    + Mia has a cat.\n" in shown
    apart = shown.partition("left apart (0.")[2]
    assert apart.splitlines()[0].endswith("other details at the same place")
    assert [line.strip() for line in apart.splitlines()[1:]] == [RED, BLUE]
    (entry,) = [one for one in night_report.objects(told, dry=False) if one["what"] == "apart"]
    assert set(entry["texts"]) == {RED, BLUE}
    assert entry["score"] >= 900


async def test_what_was_refused_is_no_deed(capsys: pytest.CaptureFixture[str]) -> None:
    stale = of_other_code()
    told = await night(stale=[stale], left=4, degraded=1, drained=True)
    told.decisions.append(stale)
    night_report.show(told, dry=False)
    shown = capsys.readouterr().out
    assert "nobody spoke here of late" in shown
    assert "duplicate (stale: left as it was): the same words" in shown
    assert "1 stale: what they rest on had changed meanwhile; the next run takes it up" in shown
    assert "of the model of no use: rules stood in" in shown
    assert "left to the next run, which may retire as many again (--most): 4 decisions" in shown
    counted = night_report.counts(told)
    assert (counted["duplicate"], counted["retired"], counted["stale"], counted["left"]) == (1, 3, 1, 4)
    total = night_report.total([told, Told(Space("acme/other"), "night-1")], dry=True)
    assert total == (
        "2 spaces (nothing was published): working memory of 1 space would be routed, 1 duplicate; "
        "3 records retired, 1 group left apart, 1 stale."
    )


def test_a_space_in_which_nothing_was_done_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    quiet = Told(SPACE, "night-1")
    night_report.show(quiet, dry=False)
    assert capsys.readouterr().out == ""
    assert night_report.total([quiet], dry=False).startswith("1 space: nothing to do; 0 records retired")


def test_to_route_working_memory_is_something_to_do() -> None:
    told = [Told(SPACE, "night-1", drained=True), Told(Space("acme/other"), "night-1", drained=True)]
    assert night_report.total(told, dry=False).startswith("2 spaces: working memory of 2 spaces is routed; 0 records")
    assert night_report.total(told[:1], dry=True).startswith("1 space (nothing was published): working memory of 1 ")
