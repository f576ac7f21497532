"""Temporal expressions of a text, resolved against the time at which it was said.

A ``Rule`` (``context``) is a pattern with the words that it cannot be without and a function from its match to a
stretch of the ``calendar``. ``resolve`` tries each rule around its words only (``gate``): those of ``relative``
("last week"), ``counted`` ("two weeks ago"), ``named`` ("Friday", ``holidays``), ``dates`` and ``foreign``; keeps of
overlapping matches the longest; and joins what belongs together: clocks and ranges (``joins``), "early", "since" and
"before" (``leads``). ``words`` has the vocabulary.
"""

from stages.text.times.resolve import resolve_times

__all__ = ["resolve_times"]
