"""What a worker tells: its log lines, and its figures."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from io import StringIO

import pytest

from infra.workers.figures import Figures
from infra.workers.logs import to_stderr
from infra.workers.sight import PartitionSight, Sight
from streams.metrics import BOUNDS, Metrics, Name

ONE = PartitionSight(
    partition=3,
    next=10,
    expected=12,
    waiting=2,
    lag=5,
    oldest_s=1.5,
    ready=True,
    stopped="refused",
    state_bytes=4096,
    loaded=1,
)
UNREAD = PartitionSight(
    partition=4,
    next=0,
    expected=0,
    waiting=0,
    lag=None,
    oldest_s=None,
    ready=False,
    stopped=None,
    state_bytes=0,
    loaded=0,
)
SEEN = Sight((ONE, UNREAD), handled=10, held_bytes=99, admitting=2, unavailable=1, reasons=("x: y",), paused=True)


@pytest.fixture
def _own_logging() -> Iterator[None]:
    """Put the process's logging back as it was."""
    root, level, handlers = logging.getLogger(), logging.getLogger().level, list(logging.getLogger().handlers)
    yield
    logging.disable(logging.NOTSET)
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.mark.usefixtures("_own_logging")
def test_each_record_is_one_line_of_json_with_its_stage_worker_and_event() -> None:
    out = StringIO()
    to_stderr("route", 2, out)
    logging.getLogger("streams.any").warning("a\nb %s", "c", extra={"event": "lettered", "space": "acme/ü"})
    logging.getLogger("infra.workers.any").info("d")
    logging.getLogger("aiokafka.any").info("e")
    logging.getLogger("streams.any").debug("f")
    logging.getLogger("infra.nights.any").info("g")
    first, second, night = [json.loads(line) for line in out.getvalue().splitlines()]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", first.pop("at"))
    assert first == {
        "level": "warning",
        "stage": "route",
        "worker": 2,
        "event": "lettered",
        "message": "a\nb c",
        "logger": "streams.any",
        "space": "acme/ü",
    }
    assert (second["level"], second["event"], second["message"]) == ("info", "told", "d")
    assert night["message"] == "g"


@pytest.mark.usefixtures("_own_logging")
def test_a_traceback_stays_in_its_line() -> None:
    out = StringIO()
    to_stderr("route", None, out)
    logging.getLogger("x").error("odd", exc_info=ZeroDivisionError("by 0"))
    (line,) = map(json.loads, out.getvalue().splitlines())
    assert line["worker"] == "supervisor"
    assert "ZeroDivisionError" in line["traceback"]


def test_every_name_is_shown_and_no_other() -> None:
    metrics = Metrics(letters=4)
    for seconds in (0.004, 0.2, 100.0):
        metrics.batches.add(seconds)
    page = Figures("route", 2, metrics, lambda: SEEN, {"SIGKILL": 3}, {"memory": 7}).page().decode()
    shown = set(re.findall(r"^# TYPE (\S+)", page, re.MULTILINE))
    assert {name.removesuffix("_total") for name in shown} == set(Name)
    assert 'anabranch_restarts_total{cause="SIGKILL",stage="route",worker="2"} 3.0' in page
    assert 'anabranch_letters_total{stage="route",worker="2"} 4.0' in page
    assert 'anabranch_lag_events{partition="3",stage="route",worker="2"} 5.0' in page
    assert 'anabranch_topic_bytes{stage="route",topic="memory",worker="2"} 7.0' in page
    assert 'anabranch_lag_events{partition="4"' not in page, "what is not known is not shown as nothing"
    assert 'anabranch_waiting{for="memory",stage="route",worker="2"} 2.0' in page
    counts = [
        float(line.split()[-1]) for line in page.splitlines() if line.startswith("anabranch_batch_seconds_bucket")
    ]
    assert len(counts) == len(BOUNDS) + 1
    assert (counts[0], counts[5], counts[-1]) == (1.0, 2.0, 3.0)
