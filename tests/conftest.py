"""What every test starts from: none of its user's settings, least of all their cluster, and a Ctrl-C that ends.

A shell lets what it runs in the background ignore Ctrl-C, and all processes inherit that.
"""

from __future__ import annotations

import gc
import os
import signal

import pytest

from streams.collector import YOUNG, settle
from tests.fakes.lone import libs, lone, rest

__all__ = ["libs", "lone"]

for _name in [name for name in os.environ if name.startswith("ANABRANCH_") and not name.endswith("_TEST")]:
    del os.environ[_name]

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# From the first import on: at its own pace Python looks again and again through all tests that were collected.
gc.set_threshold(YOUNG)


def pytest_collection_finish() -> None:
    """Let the collector pass over what stays: libraries, and thousands of tests."""
    settle()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let the brokers that tests share run only while tests run that may need one."""
    rest(item.path)
