"""What every test starts from: none of its user's settings, least of all their cluster, and a Ctrl-C that ends.

A shell lets what it runs in the background ignore Ctrl-C, and all processes inherit that.
"""

from __future__ import annotations

import os
import signal

from tests.fakes.lone import libs, lone

__all__ = ["libs", "lone"]

for _name in [name for name in os.environ if name.startswith("ANABRANCH_") and not name.endswith("_TEST")]:
    del os.environ[_name]

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
