"""Temporal expressions of a text, resolved against the time at which it was said."""

from stages.text.times.resolve import resolve_times

__all__ = ["resolve_times"]
