"""Servers for the tests of the server's index; they are skipped where this machine has none."""

from __future__ import annotations

from tests.fakes.qdrant_server import address, mortal

__all__ = ["address", "mortal"]
